#include "kernel/expression.h"

#include "kernel/expression_node.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace regraph {

namespace {

using expression_internal::Kind;
using Node = IntegerExpression::Node;
using NodePointer = std::shared_ptr<const Node>;

Error overflow(const char* operation) {
  return fail(ErrorCode::invalid_argument,
              fmt::format("the {} overflows 64 bits; use smaller sizes", operation));
}

Result<std::int64_t> apply(Kind kind, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  switch (kind) {
    case Kind::sum:
      if (__builtin_add_overflow(a, b, &result)) return overflow("sum");
      return result;
    case Kind::difference:
      if (__builtin_sub_overflow(a, b, &result)) return overflow("difference");
      return result;
    case Kind::product:
      if (__builtin_mul_overflow(a, b, &result)) return overflow("product");
      return result;
    case Kind::minimum:
      return a < b ? a : b;
    case Kind::maximum:
      return a < b ? b : a;
    case Kind::quotient:
    case Kind::remainder:
    case Kind::ceiling: {
      const char* symbol = kind == Kind::quotient ? "/" : kind == Kind::remainder ? "%" : "cdiv";
      if (b == 0) {
        return fail(ErrorCode::invalid_argument, fmt::format("division by zero in '{}'", symbol));
      }
      if (a < 0 || b < 0) {
        return fail(ErrorCode::invalid_argument,
                    fmt::format("'{}' is defined for non-negative operands only, got {} and {}",
                                symbol, a, b));
      }
      if (kind == Kind::remainder) return a % b;
      return kind == Kind::quotient ? a / b : a / b + (a % b != 0 ? 1 : 0);
    }
    case Kind::constant:
    case Kind::symbol:
      break;
  }
  return fail(ErrorCode::internal, "not an operation");
}

NodePointer make(Kind kind, std::vector<NodePointer> operands) {
  auto node = std::make_shared<Node>();
  node->kind = kind;
  node->operands = std::move(operands);
  return node;
}

NodePointer make_constant(std::int64_t value) {
  auto node = std::make_shared<Node>();
  node->value = value;
  return node;
}

NodePointer make_symbol(std::string name) {
  auto node = std::make_shared<Node>();
  node->kind = Kind::symbol;
  node->name = std::move(name);
  return node;
}

bool is(const NodePointer& node, Kind kind) {
  return node->kind == kind;
}
bool is(const NodePointer& node, std::int64_t value) {
  return node->kind == Kind::constant && node->value == value;
}

// Sums and products are flat lists with at most one constant: last in a sum ("N + 1"), first in a
// product ("4 * N"). That makes equal plans print equally whatever order the steps built them in.
NodePointer combine(Kind kind, const NodePointer& a, const NodePointer& b) {
  const std::int64_t neutral = kind == Kind::sum ? 0 : 1;
  std::vector<NodePointer> terms;
  std::int64_t folded = neutral;
  for (const NodePointer& side : {a, b}) {
    const bool same_kind = is(side, kind);
    for (const NodePointer& term : same_kind ? side->operands : std::vector<NodePointer>{side}) {
      if (!is(term, Kind::constant)) {
        terms.push_back(term);
        continue;
      }
      const Result<std::int64_t> next = apply(kind, folded, term->value);
      // Leave an overflowing pair as written: evaluation then reports it.
      if (!next.ok()) return make(kind, {a, b});
      folded = *next;
    }
  }
  if (folded != neutral || terms.empty()) {
    const auto place = kind == Kind::sum ? terms.end() : terms.begin();
    terms.insert(place, make_constant(folded));
  }
  if (terms.size() == 1) return terms.front();
  return make(kind, std::move(terms));
}

NodePointer build(Kind kind, const NodePointer& a, const NodePointer& b) {
  if (kind == Kind::sum || kind == Kind::product) return combine(kind, a, b);
  if (is(a, Kind::constant) && is(b, Kind::constant)) {
    const Result<std::int64_t> value = apply(kind, a->value, b->value);
    if (value.ok()) return make_constant(*value);
  }
  if (kind == Kind::difference && is(b, Kind::constant) &&
      b->value != std::numeric_limits<std::int64_t>::min()) {
    return combine(Kind::sum, a, make_constant(-b->value));
  }
  if (kind == Kind::ceiling) {
    if (is(b, 1)) return a;
    // For positive divisors cdiv(cdiv(x, y), z) == cdiv(x, y * z).
    if (is(a, Kind::ceiling)) {
      return build(Kind::ceiling, a->operands[0], combine(Kind::product, a->operands[1], b));
    }
  }
  return make(kind, {a, b});
}

Result<std::int64_t> evaluate_node(const Node& node, const Symbols& symbols) {
  if (node.kind == Kind::constant) return node.value;
  if (node.kind == Kind::symbol) {
    const auto found = symbols.find(node.name);
    if (found != symbols.end()) return found->second;
    std::string known;
    for (const auto& [name, value] : symbols)
      known += (known.empty() ? "" : ", ") + name;
    return fail(ErrorCode::not_found, fmt::format("unknown symbol '{}' (known: {})", node.name,
                                                  known.empty() ? "none" : known));
  }
  Result<std::int64_t> total = evaluate_node(*node.operands[0], symbols);
  for (std::size_t i = 1; total.ok() && i < node.operands.size(); ++i) {
    Result<std::int64_t> next = evaluate_node(*node.operands[i], symbols);
    if (!next.ok()) return next;
    total = apply(node.kind, *total, *next);
  }
  return total;
}

NodePointer substitute_node(const NodePointer& node,
                            const std::map<std::string, NodePointer, std::less<>>& replacements) {
  if (node->kind == Kind::constant) return node;
  if (node->kind == Kind::symbol) {
    const auto found = replacements.find(node->name);
    return found == replacements.end() ? node : found->second;
  }
  NodePointer result = substitute_node(node->operands[0], replacements);
  for (std::size_t i = 1; i < node->operands.size(); ++i) {
    result = build(node->kind, result, substitute_node(node->operands[i], replacements));
  }
  return result;
}

void collect_symbols(const Node& node, std::set<std::string>& names) {
  if (node.kind == Kind::symbol) names.insert(node.name);
  for (const NodePointer& operand : node.operands)
    collect_symbols(*operand, names);
}

bool is_multiple(const Node& node, std::int64_t number) {
  const auto divides = [&](const NodePointer& operand) { return is_multiple(*operand, number); };
  if (node.kind == Kind::constant) return node.value % number == 0;
  if (node.kind == Kind::product) return std::ranges::any_of(node.operands, divides);
  const bool keeps = node.kind == Kind::sum || node.kind == Kind::difference ||
                     node.kind == Kind::minimum || node.kind == Kind::maximum;
  return keeps && std::ranges::all_of(node.operands, divides);
}

int precedence(Kind kind) {
  switch (kind) {
    case Kind::sum:
    case Kind::difference:
      return 1;
    case Kind::product:
    case Kind::quotient:
    case Kind::remainder:
      return 2;
    default:
      return 3;
  }
}

void print(const Node& node, std::string& out);

void print_operand(const Node& parent, const Node& operand, bool first, std::string& out) {
  const int outer = precedence(parent.kind);
  const int inner = precedence(operand.kind);
  const bool parentheses = first ? inner < outer : inner <= outer;
  if (parentheses) out += '(';
  print(operand, out);
  if (parentheses) out += ')';
}

void print(const Node& node, std::string& out) {
  switch (node.kind) {
    case Kind::constant:
      out += std::to_string(node.value);
      return;
    case Kind::symbol:
      out += node.name;
      return;
    case Kind::ceiling:
    case Kind::minimum:
    case Kind::maximum:
      out += node.kind == Kind::ceiling ? "cdiv(" : node.kind == Kind::minimum ? "min(" : "max(";
      print(*node.operands[0], out);
      out += ", ";
      print(*node.operands[1], out);
      out += ')';
      return;
    default:
      break;
  }
  print_operand(node, *node.operands[0], true, out);
  for (std::size_t i = 1; i < node.operands.size(); ++i) {
    const Node& operand = *node.operands[i];
    if (node.kind == Kind::sum && operand.kind == Kind::constant && operand.value < 0 &&
        operand.value != std::numeric_limits<std::int64_t>::min()) {
      out += " - " + std::to_string(-operand.value);
      continue;
    }
    out += node.kind == Kind::sum          ? " + "
           : node.kind == Kind::difference ? " - "
           : node.kind == Kind::product    ? " * "
           : node.kind == Kind::quotient   ? " / "
                                           : " % ";
    print_operand(node, operand, false, out);
  }
}

}  // namespace

namespace expression_internal {

NodePointer binary(Kind kind, const NodePointer& a, const NodePointer& b) {
  return build(kind, a, b);
}
NodePointer constant(std::int64_t value) {
  return make_constant(value);
}
NodePointer symbol(std::string name) {
  return make_symbol(std::move(name));
}

}  // namespace expression_internal

IntegerExpression::IntegerExpression() : IntegerExpression(std::int64_t{0}) {}
IntegerExpression::IntegerExpression(std::int64_t constant) : node_(make_constant(constant)) {}

Result<IntegerExpression> IntegerExpression::parse(std::string_view text) {
  Result<NodePointer> node = expression_internal::parse(text);
  if (!node.ok()) return node.error();
  return IntegerExpression(std::move(*node));
}

IntegerExpression IntegerExpression::symbol(std::string name) {
  return IntegerExpression(make_symbol(std::move(name)));
}

IntegerExpression IntegerExpression::add(const IntegerExpression& a, const IntegerExpression& b) {
  return IntegerExpression(build(Kind::sum, a.node_, b.node_));
}

IntegerExpression IntegerExpression::multiply(const IntegerExpression& a,
                                              const IntegerExpression& b) {
  return IntegerExpression(build(Kind::product, a.node_, b.node_));
}

IntegerExpression IntegerExpression::ceil_divide(const IntegerExpression& a,
                                                 const IntegerExpression& b) {
  return IntegerExpression(build(Kind::ceiling, a.node_, b.node_));
}

Result<std::int64_t> IntegerExpression::evaluate(const Symbols& symbols) const {
  return evaluate_node(*node_, symbols);
}

IntegerExpression IntegerExpression::substitute(
    const std::map<std::string, IntegerExpression, std::less<>>& replacements) const {
  std::map<std::string, NodePointer, std::less<>> nodes;
  for (const auto& [name, expression] : replacements)
    nodes.emplace(name, expression.node_);
  return IntegerExpression(substitute_node(node_, nodes));
}

std::string IntegerExpression::text() const {
  std::string out;
  print(*node_, out);
  return out;
}

std::set<std::string> IntegerExpression::symbols() const {
  std::set<std::string> names;
  collect_symbols(*node_, names);
  return names;
}

bool IntegerExpression::is_constant() const {
  return symbols().empty();
}

bool IntegerExpression::is_multiple_of(std::int64_t number) const {
  return is_multiple(*node_, number);
}

}  // namespace regraph
