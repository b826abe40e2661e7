#include "source/build.h"

#include <utility>

namespace regraph::source {
namespace {

ExprPtr make(ExprKind kind, std::string text, std::vector<ExprPtr> operands,
             std::optional<ScalarType> type = std::nullopt) {
  auto expr = std::make_shared<Expr>();
  expr->kind = kind;
  expr->text = std::move(text);
  expr->operands = std::move(operands);
  expr->type = type;
  return expr;
}

std::shared_ptr<Stmt> make_stmt(StmtKind kind) {
  auto stmt = std::make_shared<Stmt>();
  stmt->kind = kind;
  return stmt;
}

bool is_integer(const ExprPtr& expr, std::int64_t value) {
  return expr->kind == ExprKind::integer && expr->number == value;
}

// The usual arithmetic conversions, as far as width and signedness of the result matter here.
std::optional<ScalarType> common_type(const ExprPtr& left, const ExprPtr& right) {
  if (!left->type || !right->type) return std::nullopt;
  const ScalarType a = *left->type;
  const ScalarType b = *right->type;
  return static_cast<int>(a) > static_cast<int>(b) ? a : b;
}

}  // namespace

ExprPtr integer(std::int64_t value) {
  auto expr = std::make_shared<Expr>();
  expr->kind = ExprKind::integer;
  expr->text = std::to_string(value);
  expr->number = value;
  expr->type = ScalarType::i32;
  return expr;
}

ExprPtr floating(std::string text) {
  const bool single = !text.empty() && (text.back() == 'f' || text.back() == 'F');
  return make(ExprKind::floating, std::move(text), {}, single ? ScalarType::f32 : ScalarType::f64);
}

ExprPtr variable(std::string name, std::optional<ScalarType> type) {
  return make(ExprKind::variable, std::move(name), {}, type);
}

ExprPtr builtin(std::string name) {
  return make(ExprKind::builtin, std::move(name), {}, ScalarType::u32);
}

ExprPtr unary(std::string op, ExprPtr operand) {
  const auto type = operand->type;
  return make(ExprKind::unary, std::move(op), {std::move(operand)}, type);
}

ExprPtr binary(std::string op, ExprPtr left, ExprPtr right) {
  if (left->kind == ExprKind::integer && right->kind == ExprKind::integer) {
    if (op == "+") return integer(left->number + right->number);
    if (op == "-") return integer(left->number - right->number);
    if (op == "*") return integer(left->number * right->number);
  }
  if (op == "+" && is_integer(left, 0)) return right;
  if ((op == "+" || op == "-") && is_integer(right, 0)) return left;
  if (op == "*" && is_integer(left, 1)) return right;
  if (op == "*" && is_integer(right, 1)) return left;
  const bool compares = op == "<" || op == "<=" || op == ">" || op == ">=" || op == "==" ||
                        op == "!=" || op == "&&" || op == "||";
  const auto type = compares ? std::optional(ScalarType::boolean) : common_type(left, right);
  return make(ExprKind::binary, std::move(op), {std::move(left), std::move(right)}, type);
}

ExprPtr conditional(ExprPtr condition, ExprPtr then, ExprPtr otherwise) {
  const auto type = then->type;
  return make(ExprKind::conditional, "",
              {std::move(condition), std::move(then), std::move(otherwise)}, type);
}

ExprPtr element(ExprPtr base, const std::vector<ExprPtr>& indices) {
  ExprPtr expr = std::move(base);
  for (const ExprPtr& index : indices) {
    const auto type = expr->type;
    expr = make(ExprKind::index, "", {expr, index}, type);
  }
  return expr;
}

ExprPtr call(std::string function, std::vector<ExprPtr> arguments) {
  return make(ExprKind::call, std::move(function), std::move(arguments));
}

ExprPtr cast(std::string type, ExprPtr operand) {
  const auto scalar = scalar_type_from_cuda_name(type);
  return make(ExprKind::cast, std::move(type), {std::move(operand)}, scalar);
}

ExprPtr conjunction(const std::vector<ExprPtr>& terms) {
  ExprPtr result;
  for (const ExprPtr& term : terms)
    result = result ? binary("&&", result, term) : term;
  return result;
}

StmtPtr declare(Variable variable, ExprPtr initial_value) {
  auto stmt = make_stmt(StmtKind::declare);
  stmt->variable = std::move(variable);
  stmt->value = std::move(initial_value);
  return stmt;
}

StmtPtr declare_integer(std::string name, ExprPtr initial_value, bool is_const) {
  Variable variable;
  variable.name = std::move(name);
  variable.type = "int";
  variable.scalar = ScalarType::i32;
  variable.is_const = is_const;
  return declare(std::move(variable), std::move(initial_value));
}

StmtPtr assign(ExprPtr target, std::string op, ExprPtr value) {
  auto stmt = make_stmt(StmtKind::assign);
  stmt->target = std::move(target);
  stmt->text = std::move(op);
  stmt->value = std::move(value);
  return stmt;
}

StmtPtr evaluate(ExprPtr value) {
  auto stmt = make_stmt(StmtKind::evaluate);
  stmt->value = std::move(value);
  return stmt;
}

StmtPtr branch(ExprPtr condition, Block body, Block otherwise) {
  auto stmt = make_stmt(StmtKind::branch);
  stmt->value = std::move(condition);
  stmt->body = std::move(body);
  stmt->otherwise = std::move(otherwise);
  return stmt;
}

StmtPtr counted_loop(std::string name, ExprPtr first, ExprPtr limit, std::int64_t stride,
                     Block body, int unroll) {
  auto stmt = make_stmt(StmtKind::loop);
  stmt->init = declare_integer(name, std::move(first), false);
  stmt->value = binary("<", variable(name), std::move(limit));
  stmt->step = assign(variable(name), "+=", integer(stride));
  stmt->body = std::move(body);
  stmt->unroll = unroll;
  return stmt;
}

StmtPtr barrier() {
  return make_stmt(StmtKind::barrier);
}

ExprPtr zero_of(ScalarType type) {
  switch (type) {
    case ScalarType::f32:
      return floating("0.0f");
    case ScalarType::f64:
      return floating("0.0");
    case ScalarType::f16:
    case ScalarType::bf16:
      return nullptr;
    case ScalarType::boolean:
    case ScalarType::i8:
    case ScalarType::u8:
    case ScalarType::i16:
    case ScalarType::u16:
    case ScalarType::i32:
    case ScalarType::u32:
    case ScalarType::i64:
    case ScalarType::u64:
      return integer(0);
  }
  return nullptr;
}

ExprPtr zero_value(const std::string& type, std::optional<ScalarType> scalar) {
  if (scalar) return zero_of(*scalar);
  if (type.size() < 2 || type.back() < '2' || type.back() > '4') return nullptr;
  const auto component = scalar_type_from_cuda_name(type.substr(0, type.size() - 1));
  const ExprPtr zero = component ? zero_of(*component) : nullptr;
  if (!zero) return nullptr;
  return call("make_" + type,
              std::vector<ExprPtr>(static_cast<std::size_t>(type.back() - '0'), zero));
}

}  // namespace regraph::source
