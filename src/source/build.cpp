#include "source/build.h"

#include "source/match.h"

#include <utility>

namespace regraph::source {
namespace {

// The usual arithmetic conversions, as far as width and signedness of the result matter here.
std::optional<ScalarType> common_type(const ExprPtr& left, const ExprPtr& right) {
  if (!left->type || !right->type) return std::nullopt;
  const ScalarType a = *left->type;
  const ScalarType b = *right->type;
  return static_cast<int>(a) > static_cast<int>(b) ? a : b;
}

// The result of an operation on literals or with a neutral element; null where there is neither.
ExprPtr folded(BinaryOperator op, const ExprPtr& left, const ExprPtr& right) {
  const auto* a = as<IntegerLiteral>(left);
  const auto* b = as<IntegerLiteral>(right);
  switch (op) {
    case BinaryOperator::add:
      if (a != nullptr && b != nullptr) return integer(a->value + b->value);
      if (is_number(left, 0)) return right;
      return is_number(right, 0) ? left : nullptr;
    case BinaryOperator::subtract:
      if (a != nullptr && b != nullptr) return integer(a->value - b->value);
      return is_number(right, 0) ? left : nullptr;
    case BinaryOperator::multiply:
      if (a != nullptr && b != nullptr) return integer(a->value * b->value);
      if (is_number(left, 1)) return right;
      return is_number(right, 1) ? left : nullptr;
    default:
      return nullptr;
  }
}

// The function that makes a vector of its components: the half types' are not called by the type.
std::string maker_of(const std::string& type, ScalarType component) {
  if (component == ScalarType::f16) return "make_half2";
  if (component == ScalarType::bf16) return "make_bfloat162";
  return "make_" + type;
}

}  // namespace

ExprPtr integer(std::int64_t value) {
  return integer(value, std::to_string(value), ScalarType::i32);
}

ExprPtr integer(std::int64_t value, std::string spelling, ScalarType type) {
  return std::make_shared<IntegerLiteral>(value, std::move(spelling), type);
}

ExprPtr floating(std::string spelling) {
  const bool single = !spelling.empty() && (spelling.back() == 'f' || spelling.back() == 'F');
  return std::make_shared<FloatingLiteral>(std::move(spelling),
                                           single ? ScalarType::f32 : ScalarType::f64);
}

ExprPtr variable(std::string name, std::optional<ScalarType> type) {
  return std::make_shared<VariableReference>(std::move(name), type);
}

ExprPtr builtin(std::string name) {
  return std::make_shared<Builtin>(std::move(name));
}

ExprPtr unary(UnaryOperator op, ExprPtr operand) {
  const auto type = operand->type;
  return std::make_shared<Unary>(op, std::move(operand), type);
}

ExprPtr address(ExprPtr operand) {
  return unary(UnaryOperator::address_of, std::move(operand));
}

ExprPtr binary(BinaryOperator op, ExprPtr left, ExprPtr right) {
  left = required(std::move(left), "a binary expression");
  right = required(std::move(right), "a binary expression");
  if (ExprPtr result = folded(op, left, right)) return result;
  const auto type =
      gives_boolean(op) ? std::optional(ScalarType::boolean) : common_type(left, right);
  return std::make_shared<Binary>(op, std::move(left), std::move(right), type);
}

ExprPtr add(ExprPtr left, ExprPtr right) {
  return binary(BinaryOperator::add, std::move(left), std::move(right));
}

ExprPtr subtract(ExprPtr left, ExprPtr right) {
  return binary(BinaryOperator::subtract, std::move(left), std::move(right));
}

ExprPtr multiply(ExprPtr left, ExprPtr right) {
  return binary(BinaryOperator::multiply, std::move(left), std::move(right));
}

ExprPtr divide(ExprPtr left, ExprPtr right) {
  return binary(BinaryOperator::divide, std::move(left), std::move(right));
}

ExprPtr remainder(ExprPtr left, ExprPtr right) {
  return binary(BinaryOperator::remainder, std::move(left), std::move(right));
}

ExprPtr less(ExprPtr left, ExprPtr right) {
  return binary(BinaryOperator::less, std::move(left), std::move(right));
}

ExprPtr equals(ExprPtr left, ExprPtr right) {
  return binary(BinaryOperator::equal, std::move(left), std::move(right));
}

ExprPtr both(ExprPtr left, ExprPtr right) {
  return binary(BinaryOperator::logical_and, std::move(left), std::move(right));
}

ExprPtr conditional(ExprPtr condition, ExprPtr then, ExprPtr otherwise) {
  then = required(std::move(then), "a conditional expression");
  const auto type = then->type;
  return std::make_shared<Conditional>(std::move(condition), std::move(then), std::move(otherwise),
                                       type);
}

ExprPtr element(ExprPtr base, const std::vector<ExprPtr>& indices) {
  ExprPtr expr = required(std::move(base), "a subscript");
  for (const ExprPtr& index : indices) {
    const auto type = expr->type;
    expr = std::make_shared<Subscript>(std::move(expr), index, type);
  }
  return expr;
}

ExprPtr call(std::string function, std::vector<ExprPtr> arguments) {
  return std::make_shared<Call>(std::move(function), std::move(arguments), std::nullopt);
}

ExprPtr cast(std::string type, ExprPtr operand) {
  const auto scalar = scalar_type_from_cuda_name(type);
  return std::make_shared<Cast>(std::move(type), std::move(operand), scalar);
}

ExprPtr member(ExprPtr object, std::string name, std::optional<ScalarType> type) {
  return std::make_shared<Member>(std::move(object), std::move(name), type);
}

ExprPtr conjunction(const std::vector<ExprPtr>& terms) {
  ExprPtr result;
  for (const ExprPtr& term : terms)
    result = result ? both(result, term) : term;
  return result;
}

std::vector<ExprPtr> conjuncts(const ExprPtr& condition) {
  if (!condition) return {};
  const Binary* conjunction = as_binary(condition, BinaryOperator::logical_and);
  if (conjunction == nullptr) return {condition};
  std::vector<ExprPtr> terms = conjuncts(conjunction->left);
  const std::vector<ExprPtr> more = conjuncts(conjunction->right);
  terms.insert(terms.end(), more.begin(), more.end());
  return terms;
}

ExprPtr negate(const ExprPtr& condition) {
  if (const Unary* inverse = as_unary(condition, UnaryOperator::logical_not))
    return inverse->operand;
  if (const auto* asked = as<Binary>(condition)) {
    const ExprPtr& left = asked->left;
    const ExprPtr& right = asked->right;
    if (asked->op == BinaryOperator::logical_and)
      return binary(BinaryOperator::logical_or, negate(left), negate(right));
    if (asked->op == BinaryOperator::logical_or) return both(negate(left), negate(right));
    // NaN makes !(a < b) differ from a >= b, so only integers are turned round.
    const bool integers =
        left->type && right->type && !is_floating(*left->type) && !is_floating(*right->type);
    const auto opposite = negated(asked->op);
    if (opposite && integers) return binary(*opposite, left, right);
  }
  return unary(UnaryOperator::logical_not, condition);
}

StmtPtr declare(Variable variable, ExprPtr initial_value) {
  return std::make_shared<Declaration>(std::move(variable), std::move(initial_value));
}

StmtPtr declare_integer(std::string name, ExprPtr initial_value, bool is_const) {
  Variable variable = local_variable(std::move(name), "int", ScalarType::i32);
  variable.is_const = is_const;
  return declare(std::move(variable), std::move(initial_value));
}

Variable local_variable(std::string name, std::string type, std::optional<ScalarType> scalar,
                        std::vector<std::int64_t> extents) {
  Variable variable;
  variable.name = std::move(name);
  variable.type = std::move(type);
  variable.scalar = scalar;
  variable.extents = std::move(extents);
  return variable;
}

StmtPtr assign(ExprPtr target, ExprPtr value) {
  return assign(std::move(target), AssignmentOperator::assign, std::move(value));
}

StmtPtr assign(ExprPtr target, AssignmentOperator op, ExprPtr value) {
  return std::make_shared<Assignment>(std::move(target), op, std::move(value));
}

StmtPtr evaluate(ExprPtr call) {
  return std::make_shared<Evaluation>(std::move(call));
}

StmtPtr branch(ExprPtr condition, Block body, Block otherwise, int line) {
  auto stmt = std::make_shared<Branch>(std::move(condition), std::move(body), std::move(otherwise));
  stmt->line = line;
  return stmt;
}

StmtPtr scope(Block body) {
  return std::make_shared<Scope>(std::move(body));
}

StmtPtr loop(StmtPtr init, ExprPtr condition, StmtPtr step, Block body, int unroll) {
  auto stmt = std::make_shared<ForLoop>(std::move(init), std::move(condition), std::move(step),
                                        std::move(body));
  stmt->unroll = unroll;
  return stmt;
}

StmtPtr counted_loop(std::string name, ExprPtr first, ExprPtr limit, std::int64_t stride,
                     Block body, int unroll) {
  return loop(
      declare_integer(name, std::move(first), false), less(variable(name), std::move(limit)),
      assign(variable(name), AssignmentOperator::add, integer(stride)), std::move(body), unroll);
}

StmtPtr barrier() {
  return std::make_shared<Barrier>();
}

void append(const Block& more, Block& block) {
  block.insert(block.end(), more.begin(), more.end());
}

ExprPtr zero_of(ScalarType type) {
  switch (type) {
    case ScalarType::f32:
      return floating("0.0f");
    case ScalarType::f64:
      return floating("0.0");
    case ScalarType::f16:
    case ScalarType::bf16: {
      // Not (__half)0.0f, which is converted where it runs.
      auto zero =
          std::make_shared<InitializerList>(std::string(cuda_name(type)), std::vector<ExprPtr>());
      zero->type = type;
      return zero;
    }
    case ScalarType::boolean:
    case ScalarType::i8:
    case ScalarType::u8:
    case ScalarType::i16:
    case ScalarType::u16:
    case ScalarType::i32:
    case ScalarType::u32:
    case ScalarType::i64:
    case ScalarType::u64:
      break;
  }
  return integer(0);
}

ExprPtr one_of(ScalarType type) {
  constexpr std::int64_t kHalfOne = 0x3C00;
  constexpr std::int64_t kBfloat16One = 0x3F80;
  if (type == ScalarType::f32) return floating("1.0f");
  if (type == ScalarType::f64) return floating("1.0");
  if (type == ScalarType::f16)
    return with_type(call("__ushort_as_half", {integer(kHalfOne)}), type);
  if (type == ScalarType::bf16)
    return with_type(call("__ushort_as_bfloat16", {integer(kBfloat16One)}), type);
  return integer(1);
}

ExprPtr zero_value(const std::string& type, std::optional<ScalarType> scalar) {
  if (scalar) return zero_of(*scalar);
  if (type.size() < 2 || type.back() < '2' || type.back() > '4') return nullptr;
  const auto component = scalar_type_from_cuda_name(type.substr(0, type.size() - 1));
  if (!component) return nullptr;
  return call(
      maker_of(type, *component),
      std::vector<ExprPtr>(static_cast<std::size_t>(type.back() - '0'), zero_of(*component)));
}

}  // namespace regraph::source
