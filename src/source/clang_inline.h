// Calls of the user's own device functions, taken into the kernel's body. Used by
// clang_statements.h.
//
//   total = block_sum(mine, slots);   becomes what block_sum does, with `mine` and `slots` for its
//                                     parameters, and total = what it returns
//
// Taken are functions that work with other threads or use memory, and those that are one
// expression. Objects are taken apart on the way (clang_objects.h). The statements of a call stand
// in front of the one that it is in: C++ leaves open what else of an expression is evaluated first.
// Where a call may not be evaluated, only one without statements is taken.
#pragma once

#include "source/clang_callees.h"
#include "source/clang_expressions.h"
#include "source/clang_library_calls.h"
#include "source/ir.h"

#include <clang/AST/DeclCXX.h>
#include <clang/AST/ExprCXX.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace regraph::source {

// What the conversion of statements does for calls that are taken into them.
class BodyConverter {
 public:
  virtual ~BodyConverter() = default;
  virtual void convert_into(const clang::Stmt* node, Block& block) = 0;
  // Declares a variable called like `declaration`, which uses of it mean from now on.
  virtual void declare(const clang::VarDecl& declaration, ExprPtr value, bool is_const,
                       Block& block) = 0;
  // A variable, or an array, that the source does not have; its name. A null value is set later.
  virtual std::string declare_result(const std::string& stem, clang::QualType type, ExprPtr value,
                                     bool is_const, Block& block) = 0;
  // A variable for one field of an object that is declared, or an array for one of an array of
  // objects; its name, nothing where there can be none.
  virtual std::optional<std::string> declare_field(const clang::VarDecl& object,
                                                   const std::string& stem, clang::QualType type,
                                                   ExprPtr value, Block& block) = 0;
  // An array in shared memory, of a name like `stem`, for all threads of the block; its name.
  virtual std::string declare_shared(const std::string& stem, clang::QualType type,
                                     std::int64_t extent) = 0;
  // Variables of the body that change are as those of the kernel.
  virtual void note_changing(const clang::Stmt& body) = 0;
  [[nodiscard]] virtual bool is_changing(const clang::ValueDecl& variable) const = 0;
  // Whether the place stays the same place whatever happens.
  [[nodiscard]] virtual bool is_fixed(const clang::Expr& place) const = 0;
};

class CallInliner {
 public:
  // Calls that only use memory may stay as they are; `opens_memory_calls` takes them too.
  CallInliner(ExpressionConverter& expressions, BodyConverter& bodies, bool opens_memory_calls)
      : expressions_(expressions),
        bodies_(bodies),
        callees_(expressions.context()),
        library_(expressions, place_in(bodies)),
        opens_memory_calls_(opens_memory_calls) {}

  // Takes the calls within `expr`; their statements go to `block`, without which there may be none.
  void take_calls(const clang::Expr* expr, Block* block);

  // Declares a variable, or an array, of a record that is taken apart (flat_record); false where
  // that cannot be.
  bool declare_object(const clang::VarDecl& declaration, const clang::CXXRecordDecl& record,
                      Block& block);
  // target = value, of such objects.
  bool assign_object(const clang::Expr& target, const clang::Expr& value, Block& block);

  // The fields of an object that stays where it is.
  [[nodiscard]] static Object fields_at(const ExprPtr& place, const clang::CXXRecordDecl& record);

  // Whether the call is one to be taken.
  [[nodiscard]] bool takes(const clang::CallExpr& call) {
    return LibraryCalls::is_library_call(call) || wanted(call) != nullptr;
  }
  // Whether something was to be taken that cannot be: then the body is of no use.
  [[nodiscard]] bool failed() const { return failed_; }
  // The first call that could not be taken, and why: "line 7: 'text', which calls itself".
  [[nodiscard]] const std::string& obstacle() const { return obstacle_; }
  [[nodiscard]] bool took_any() const { return took_any_; }
  // Inside a function's body, where names are looked up from elsewhere.
  [[nodiscard]] bool is_inside() const { return !active_.empty(); }

 private:
  // What a function that is taken comes to.
  struct Outcome {
    clang::QualType type;
    const clang::CXXRecordDecl* record = nullptr;  // that it returns, if that is taken apart
    std::string result = {};                       // a variable that takes what is returned
    std::optional<Object> result_object = {};      // the same of an object
    ExprPtr value = {};                            // else what the last statement returns
    std::optional<Object> object = {};
  };

  // Writes out a call of a library (clang_library_calls.h).
  void take_library_call(const clang::CallExpr& call, Block* block);
  static LibraryCallPlace place_in(BodyConverter& bodies);
  void note_obstacle(const clang::CallExpr& call);
  // What is taken has no form, for a reason that follows the call's text: "which calls itself".
  // The first reason stays. False.
  bool give_up(std::string reason);
  // Takes calls on both sides of `a ? b : c`, `a && b`, `a || b`. Where one of them has statements,
  // a variable takes the expression's value, set in a branch in front.
  void take_calls_of_choice(const clang::ConditionalOperator& choice, Block* block);
  void take_calls_of_condition(const clang::BinaryOperator& condition, Block* block);
  // The side with its statements, and the variable set to it.
  bool set_to_side(const std::string& name, clang::QualType type, const clang::Expr& side,
                   Block& block);
  // Whether a call within, which is to be taken, has statements.
  [[nodiscard]] bool has_statements(const clang::Stmt* node,
                                    std::set<const clang::FunctionDecl*>& seen);
  // Takes one that is wanted.
  void take_call(const clang::CallExpr& call, Block* block);
  // Values of a list are computed from left to right: what a later one does must not come before an
  // earlier one is read.
  void take_calls_in_order(const clang::InitListExpr& list, Block* block);
  // Whether statements of the block do more than to name values.
  [[nodiscard]] static bool changes_anything(const Block& block, std::size_t from);
  // Whether what a lambda captured is what the variables are when it is called.
  [[nodiscard]] bool keeps_captured(const clang::CXXRecordDecl& closure) const;
  // Whether the object, or one that it is a part of, is changed somewhere, or may be.
  [[nodiscard]] bool is_changing_object(const clang::Expr& object) const;
  // The function with its body, if the call is one to be taken; else null.
  [[nodiscard]] const clang::FunctionDecl* wanted(const clang::CallExpr& call);

  // Parameters: clang_inline_arguments.cpp. False where an argument has no form.
  // `single`: the value of a function that is no more than that, else null.
  bool bind(const clang::FunctionDecl& function, const std::vector<const clang::Expr*>& arguments,
            const clang::Expr* single, Block& block);
  bool bind_value(const clang::FunctionDecl& function, const clang::ParmVarDecl& parameter,
                  const clang::Expr& argument, const clang::Expr* single, Block& block);
  // What is passed is written where the call stands.
  ExprPtr convert_passed(const clang::Expr& argument);
  // Whether nothing but parameters, and what is computed of them, makes the value.
  [[nodiscard]] bool is_value_of_parameters(const clang::Stmt& node);

  // Bodies: clang_inline_bodies.cpp. False for what has no form.
  // `outcome` gets what the last statement returns, unless variables take it.
  bool convert_body(const std::vector<const clang::Stmt*>& body, Outcome& outcome, Block& block);
  bool return_value(const clang::Expr& returned, Outcome& outcome, Block& block);
  // The place that a function returns a reference to; null where it has no form.
  ExprPtr place_of(const clang::Expr& returned, Block& block);
  // Whether the array, or what the pointer leads to, is the same until the expression's end.
  [[nodiscard]] bool stays_where_it_is(const clang::Expr& base) const;

  // Vectors, float4 and the like: clang_inline_vectors.cpp.
  bool bind_vector(const clang::FunctionDecl& function, const clang::ParmVarDecl& parameter,
                   const clang::Expr& argument, Block& block);
  // Whether nothing but the function's own variables is changed, by what it calls neither.
  [[nodiscard]] bool only_reads(const clang::FunctionDecl& function,
                                std::set<const clang::FunctionDecl*>& seen);
  [[nodiscard]] bool only_reads(const clang::Stmt* node,
                                std::set<const clang::FunctionDecl*>& seen);

  // Objects: clang_inline_objects.cpp.
  // Whether parameters or result of the function are objects that are taken apart, or lambdas.
  [[nodiscard]] bool handles_objects(const clang::FunctionDecl& function) const;
  bool bind_object(const clang::ParmVarDecl& parameter, const clang::Expr& argument, Block& block);
  // The object whose method is called; nothing where it cannot be taken apart.
  std::optional<Object> owner_of_call(const clang::Expr& object, bool is_changed, Block& block);
  // Values of an object's fields, which may be those of other variables.
  std::optional<Object> object_value(const clang::Expr& expr, Block& block);
  std::optional<Object> value_of_list(const clang::InitListExpr& list, Block& block);
  std::optional<Object> value_of_constructor(const clang::CXXConstructExpr& made, Block& block);
  // Field by field, condition ? then : otherwise; false where a field is an array.
  static bool choose(const clang::CXXRecordDecl& record, const ExprPtr& condition,
                     const Object& then, const Object& otherwise, Object& result);
  bool set_field(const clang::FieldDecl& field, const clang::Expr& init, Object& object,
                 Block& block);
  ExprPtr field_value(const clang::FieldDecl& field, const clang::Expr& value);
  // The same values in variables of their own.
  Object in_variables(const clang::CXXRecordDecl& record, const Object& object,
                      const std::string& stem, bool is_const, Block& block);
  void assign_fields(const clang::CXXRecordDecl& record, const Object& target, const Object& value,
                     Block& block);

  ExpressionConverter& expressions_;
  BodyConverter& bodies_;
  CalleeEffects callees_;
  LibraryCalls library_;
  const bool opens_memory_calls_;
  std::set<const clang::FunctionDecl*> active_;
  bool owner_changes_ = false;  // the object whose method is taken has changing members
  bool failed_ = false;
  std::string reason_;
  std::string obstacle_;
  bool took_any_ = false;
};

}  // namespace regraph::source
