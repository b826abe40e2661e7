// Clang statements -> IR statements. Used by clang_convert.cpp.
//
// The class is one, as each kind of statement holds others; each idea of it has a file:
// clang_declarations.cpp, clang_references.cpp, clang_assignments.cpp, clang_loops.cpp,
// clang_switch.cpp, and clang_statements.cpp for what holds statements.
#pragma once

#include "source/clang_control.h"
#include "source/clang_expressions.h"
#include "source/clang_inline.h"
#include "source/ir.h"
#include "source/node.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>
#include <clang/AST/Expr.h>
#include <clang/AST/Stmt.h>
#include <clang/AST/StmtCXX.h>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

namespace regraph::source {

// Converts the statements of one kernel.
class StatementConverter final : private BodyConverter {
 public:
  // `takes_apart` as in FrontEndConfiguration; `opens` and `opens_memory_calls`: whether calls are
  // taken into the body (clang_inline.h).
  StatementConverter(clang::ASTContext& context, bool takes_apart, bool opens,
                     bool opens_memory_calls = false)
      : expressions_(context, opens),
        takes_apart_(takes_apart),
        opens_(opens),
        inliner_(expressions_, *this, opens_memory_calls) {}

  // A parameter of the kernel, which keeps its name.
  void declare_parameter(const clang::ParmVarDecl& parameter);

  // The statements of the kernel, whose parameters are declared, with shared memory of functions
  // that were taken in front. What the IR has no form for is opaque.
  [[nodiscard]] Block convert_kernel_body(const clang::FunctionDecl& function,
                                          const clang::CompoundStmt& body);

  // Whether calls were taken into the body, references are indices, or code was left out that the
  // instance does not reach.
  [[nodiscard]] bool has_opened() const {
    return knows_by_index_ || left_out_ || inliner_.took_any();
  }
  // Whether a call that was to be taken could not be: then the body is of no use.
  [[nodiscard]] bool has_failed() const { return inliner_.failed(); }
  [[nodiscard]] const std::string& obstacle() const { return inliner_.obstacle(); }

  [[nodiscard]] const ExpressionConverter& expressions() const { return expressions_; }

 private:
  // For calls that are taken into the body: as BodyConverter says.
  void convert_into(const clang::Stmt* node, Block& block) override;
  void declare(const clang::VarDecl& declaration, ExprPtr value, bool is_const,
               Block& block) override;
  std::string declare_result(const std::string& stem, clang::QualType type, ExprPtr value,
                             bool is_const, Block& block) override;
  std::optional<std::string> declare_field(const clang::VarDecl& object, const std::string& stem,
                                           clang::QualType type, ExprPtr value,
                                           Block& block) override;
  std::string declare_shared(const std::string& stem, clang::QualType type,
                             std::int64_t extent) override;
  void note_changing(const clang::Stmt& body) override {
    changing_.merge(changing_variables(body));
  }
  [[nodiscard]] bool is_changing(const clang::ValueDecl& variable) const override {
    return changing_.contains(&variable);
  }
  [[nodiscard]] bool is_fixed(const clang::Expr& place) const override {
    return is_fixed_place(place, changing_);
  }

  // Takes calls into the body, where that is asked for (clang_inline.h).
  void take_calls(const clang::Expr* expr, Block* block) {
    if (opens_) inliner_.take_calls(expr, block);
  }

  // The statement, with the line that it comes from.
  template <typename Node>
  StmtPtr at(clang::SourceLocation location, std::shared_ptr<Node> stmt) const {
    stmt->line = expressions_.line_of(location);
    return stmt;
  }

  // The statement's own text.
  [[nodiscard]] StmtPtr opaque_stmt(const clang::Stmt* node) const;
  // Whether it is what is left of a declaration that needs none.
  [[nodiscard]] static bool is_nothing(const Stmt& stmt) {
    return is<Scope>(stmt) && to<Scope>(stmt).body.empty();
  }

  // Statements: clang_statements.cpp. Null for what the IR has no form for.
  // What fields of records are that the kernel is passed.
  void note_records(const clang::FunctionDecl& function);
  // Labels that nothing follows.
  void note_ends(const clang::CompoundStmt& body);
  // A statement's own, or the statement alone.
  Block convert_block(const clang::Stmt* node);
  // What it does besides goes to `before` and `after`.
  StmtPtr convert_statement(const clang::Stmt* node, Block& before, Block& after);
  StmtPtr convert_branch(const clang::IfStmt* choice, Block& before);
  // A chain of branches: clang_switch.cpp.
  StmtPtr convert_switch(const clang::SwitchStmt* choice, Block& before);

  // Declarations: clang_declarations.cpp.
  // A name for `declaration`, or made of `stem`, that is unique unless the same meaning was
  // declared under it before.
  std::string unique_name(const clang::VarDecl* declaration, const std::string& meaning);
  std::string unique_name(const std::string& stem, std::string meaning);
  // Declares a variable that the source does not have; its name.
  // The type of an array's elements; the array's extents go to the variable.
  clang::QualType take_extents(clang::QualType type, Variable& variable) const;
  std::string declare_variable(const std::string& stem, clang::QualType type, ExprPtr value,
                               bool is_const, Block& block);
  // All declarations of a statement; opaque as one.
  void convert_declarations(const clang::DeclStmt* node, Block& block);
  // `loop_key` tells loops over different ranges apart, "" outside loop headers. What the first
  // value does besides goes to `block`. Null where the IR has no form for it; an empty scope where
  // nothing is left of it.
  StmtPtr convert_declaration(const clang::VarDecl* declaration, const std::string& loop_key,
                              Block& block, Block* after = nullptr);
  // The same of a variable or an array, as one of `type`.
  StmtPtr convert_value(const clang::VarDecl* declaration, clang::QualType type,
                        const std::string& loop_key, Block& block, Block* after = nullptr);

  // References: clang_references.cpp.
  // A reference is another name of a place, or of a value that is made for it. As
  // convert_declaration.
  StmtPtr convert_reference(const clang::VarDecl* declaration, Block& block);
  // The kernel's own parameter that the place is an element of, where it always leads to the same;
  // else null.
  [[nodiscard]] const clang::ParmVarDecl* parameter_of(const clang::Expr& place) const;

  // Assignments and what else has effects: clang_assignments.cpp.
  // The value of an expression; what it does besides goes in front of `block`'s next statement,
  // and behind it to `after` where that is given.
  ExprPtr value_of(const clang::Expr* expr, Block& block, Block* after = nullptr);
  // b = value of `a = b = value`, where nothing else happens in it; null for anything else.
  [[nodiscard]] static const clang::BinaryOperator* chain_of(const clang::Expr* value);
  // What `b = value` leaves in b, which is assigned in `block`.
  ExprPtr value_of_chain(const clang::BinaryOperator* inner, Block& block);
  // `whole` is target op value; null `value` is 1. Null where the IR has no form for it.
  StmtPtr assignment(const clang::Expr* whole, const clang::Expr* target, const std::string& op,
                     const clang::Expr* value, Block& block, Block& after);
  // What functions are called for that store an element or two and do nothing else; null for
  // others. What comes first goes to `block`.
  StmtPtr plain_statement(const clang::CallExpr& call, const clang::FunctionDecl& callee,
                          Block& block);
  // An assignment, ++, -- or call in statement position; null when it is something else. What it
  // does besides goes to `block`, in front, and to `after`.
  StmtPtr convert_effect(const clang::Expr* expr, Block& block, Block& after);

  // Loops: clang_loops.cpp. Null for what the IR has no form for.
  // The header's first part in `init`, of several the one that the condition asks about; the others
  // stand before the loop, in `block`. False where the IR has no form for it.
  bool convert_init(const clang::ForStmt* loop, StmtPtr& init, Block& block);
  // The header's last part in `step`, of several the one that advances what the condition asks
  // about; the others end the body. False where the IR has no form for it.
  bool convert_step(const clang::ForStmt* loop, StmtPtr& step, Block& body);
  // `unroll` as in ForLoop; what stands before the loop goes to `block`.
  StmtPtr convert_loop(const clang::ForStmt* loop, int unroll, Block& block);
  // for (T i = n; i-- > 0;), upwards; null for other loops whose condition changes something.
  StmtPtr convert_countdown(const clang::ForStmt* loop, int unroll, Block& block);
  // while (true) { if (!condition) break; body }, with what the condition does in front of it.
  StmtPtr convert_while(const clang::WhileStmt* repeat);
  // What the condition does besides ends the body.
  StmtPtr convert_do(const clang::DoStmt* repeat);

  ExpressionConverter expressions_;
  bool takes_apart_;
  bool opens_;
  bool knows_by_index_ = false;  // places that references lead to
  CallInliner inliner_;
  std::set<const clang::VarDecl*> dynamic_of_kernel_;  // arrays of dynamic shared memory
  std::set<const clang::VarDecl*> dynamic_of_calls_;
  bool left_out_ = false;                        // assertions, and branches that are never taken
  Block shared_;                                 // of functions that were taken
  std::set<const clang::ValueDecl*> changing_;   // (clang_control.h)
  std::set<const clang::LabelDecl*> ends_;       // labels that nothing follows
  std::map<std::string, std::string> declared_;  // name -> meaning of its declaration
};

}  // namespace regraph::source
