// Expressions of the kernel IR, one class a kind. Nodes are immutable once they are in an ExprPtr,
// and none is made of a null operand (missing_operand.h).
#pragma once

#include "kernel/scalar_type.h"
#include "source/missing_operand.h"
#include "source/node.h"
#include "source/operators.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace regraph::source {

enum class ExprKind : std::uint8_t {
  integer_literal,
  floating_literal,
  variable_reference,
  builtin,
  unary,
  binary,
  conditional,
  subscript,
  call,
  cast,
  member,
  list,
  opaque,
};

class Expr {
 public:
  virtual ~Expr() = default;
  [[nodiscard]] ExprKind kind() const { return kind_; }

  std::optional<ScalarType> type;  // when it is a scalar the project knows

 protected:
  Expr(ExprKind kind, std::optional<ScalarType> scalar) : type(scalar), kind_(kind) {}
  Expr(const Expr&) = default;
  Expr& operator=(const Expr&) = default;

 private:
  ExprKind kind_;
};

using ExprPtr = std::shared_ptr<const Expr>;
using ScalarHint = std::optional<ScalarType>;

struct IntegerLiteral final : Expr {
  static constexpr ExprKind kKind = ExprKind::integer_literal;
  IntegerLiteral(std::int64_t number, std::string text, ScalarHint scalar)
      : Expr(kKind, scalar), value(number), spelling(std::move(text)) {}
  std::int64_t value;
  std::string spelling;  // as printed
};

struct FloatingLiteral final : Expr {
  static constexpr ExprKind kKind = ExprKind::floating_literal;
  FloatingLiteral(std::string text, ScalarHint scalar)
      : Expr(kKind, scalar), spelling(std::move(text)) {}
  std::string spelling;  // as printed
};

struct VariableReference final : Expr {
  static constexpr ExprKind kKind = ExprKind::variable_reference;
  VariableReference(std::string variable, ScalarHint scalar)
      : Expr(kKind, scalar), name(std::move(variable)) {}
  std::string name;
};

struct Builtin final : Expr {
  static constexpr ExprKind kKind = ExprKind::builtin;
  explicit Builtin(std::string builtin) : Expr(kKind, ScalarType::u32), name(std::move(builtin)) {}
  std::string name;  // "threadIdx.x", ..., "gridDim.z"
};

struct Unary final : Expr {
  static constexpr ExprKind kKind = ExprKind::unary;
  Unary(UnaryOperator unary, ExprPtr inner, ScalarHint scalar)
      : Expr(kKind, scalar), op(unary), operand(required(std::move(inner), "a unary expression")) {}
  UnaryOperator op;
  ExprPtr operand;
};

struct Binary final : Expr {
  static constexpr ExprKind kKind = ExprKind::binary;
  Binary(BinaryOperator binary, ExprPtr a, ExprPtr b, ScalarHint scalar)
      : Expr(kKind, scalar),
        op(binary),
        left(required(std::move(a), "a binary expression")),
        right(required(std::move(b), "a binary expression")) {}
  BinaryOperator op;
  ExprPtr left;
  ExprPtr right;
};

// condition ? then : otherwise
struct Conditional final : Expr {
  static constexpr ExprKind kKind = ExprKind::conditional;
  Conditional(ExprPtr asked, ExprPtr yes, ExprPtr no, ScalarHint scalar)
      : Expr(kKind, scalar),
        condition(required(std::move(asked), "a conditional expression")),
        then(required(std::move(yes), "a conditional expression")),
        otherwise(required(std::move(no), "a conditional expression")) {}
  ExprPtr condition;
  ExprPtr then;
  ExprPtr otherwise;
};

// base[index]
struct Subscript final : Expr {
  static constexpr ExprKind kKind = ExprKind::subscript;
  Subscript(ExprPtr array, ExprPtr position, ScalarHint scalar)
      : Expr(kKind, scalar),
        base(required(std::move(array), "a subscript")),
        index(required(std::move(position), "a subscript")) {}
  ExprPtr base;
  ExprPtr index;
};

// What is known of a function from its body, besides what its name says (known_functions.h).
enum class CallEffect : std::uint8_t {
  by_name,   // the name tells, if anything does
  anything,  // asks for its thread, waits for others, keeps state
  memory,    // may use memory and may take long; nothing else of that
  pure,      // the value follows from the arguments alone
};

struct Call final : Expr {
  static constexpr ExprKind kKind = ExprKind::call;
  Call(std::string name, std::vector<ExprPtr> passed, ScalarHint scalar,
       CallEffect known = CallEffect::by_name)
      : Expr(kKind, scalar),
        function(std::move(name)),
        arguments(all_required(std::move(passed), "a call")),
        effect(known) {}
  std::string function;  // as printed
  std::vector<ExprPtr> arguments;
  CallEffect effect;
  std::set<std::size_t> by_reference;  // arguments that the function may change
};

// (target)operand
struct Cast final : Expr {
  static constexpr ExprKind kKind = ExprKind::cast;
  Cast(std::string to, ExprPtr inner, ScalarHint scalar)
      : Expr(kKind, scalar), target(std::move(to)), operand(required(std::move(inner), "a cast")) {}
  std::string target;  // spelling of the type
  ExprPtr operand;
};

// object.name
struct Member final : Expr {
  static constexpr ExprKind kKind = ExprKind::member;
  Member(ExprPtr of, std::string member, ScalarHint scalar)
      : Expr(kKind, scalar), object(required(std::move(of), "a member")), name(std::move(member)) {}
  ExprPtr object;
  std::string name;
};

// {values}, or target{values} where it has a type; arrays have none.
struct InitializerList final : Expr {
  static constexpr ExprKind kKind = ExprKind::list;
  InitializerList(std::string of, std::vector<ExprPtr> elements)
      : Expr(kKind, std::nullopt),
        target(std::move(of)),
        values(all_required(std::move(elements), "a list of values")) {}
  std::string target;  // spelling of the type, or empty
  std::vector<ExprPtr> values;
};

// Source text that the IR has no node for.
struct OpaqueExpression final : Expr {
  static constexpr ExprKind kKind = ExprKind::opaque;
  OpaqueExpression(std::string source, ScalarHint scalar)
      : Expr(kKind, scalar), text(std::move(source)) {}
  std::string text;
};

// The expression with another type; itself where that is its type.
[[nodiscard]] ExprPtr with_type(const ExprPtr& expr, ScalarHint type);

// Calls `visit` for each operand, in the order in which they are written.
template <typename Visit>
void for_each_operand(const Expr& expr, const Visit& visit) {
  switch (expr.kind()) {
    case ExprKind::unary:
      visit(to<Unary>(expr).operand);
      break;
    case ExprKind::binary:
      visit(to<Binary>(expr).left);
      visit(to<Binary>(expr).right);
      break;
    case ExprKind::conditional:
      visit(to<Conditional>(expr).condition);
      visit(to<Conditional>(expr).then);
      visit(to<Conditional>(expr).otherwise);
      break;
    case ExprKind::subscript:
      visit(to<Subscript>(expr).base);
      visit(to<Subscript>(expr).index);
      break;
    case ExprKind::call:
      for (const ExprPtr& argument : to<Call>(expr).arguments)
        visit(argument);
      break;
    case ExprKind::cast:
      visit(to<Cast>(expr).operand);
      break;
    case ExprKind::member:
      visit(to<Member>(expr).object);
      break;
    case ExprKind::list:
      for (const ExprPtr& value : to<InitializerList>(expr).values)
        visit(value);
      break;
    case ExprKind::integer_literal:
    case ExprKind::floating_literal:
    case ExprKind::variable_reference:
    case ExprKind::builtin:
    case ExprKind::opaque:
      break;
  }
}

}  // namespace regraph::source
