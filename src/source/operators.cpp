#include "source/operators.h"

#include <algorithm>
#include <array>

namespace regraph::source {
namespace {

struct UnaryRow {
  UnaryOperator op;
  std::string_view text;
};

constexpr std::array kUnary = {
    UnaryRow{UnaryOperator::minus, "-"}, UnaryRow{UnaryOperator::plus, "+"},
    UnaryRow{UnaryOperator::bit_not, "~"}, UnaryRow{UnaryOperator::logical_not, "!"},
    UnaryRow{UnaryOperator::address_of, "&"}};

struct BinaryRow {
  BinaryOperator op;
  std::string_view text;
  int precedence;
};

constexpr std::array kBinary = {
    BinaryRow{BinaryOperator::add, "+", kAdditivePrecedence},
    BinaryRow{BinaryOperator::subtract, "-", kAdditivePrecedence},
    BinaryRow{BinaryOperator::multiply, "*", kMultiplicativePrecedence},
    BinaryRow{BinaryOperator::divide, "/", kMultiplicativePrecedence},
    BinaryRow{BinaryOperator::remainder, "%", kMultiplicativePrecedence},
    BinaryRow{BinaryOperator::shift_left, "<<", kShiftPrecedence},
    BinaryRow{BinaryOperator::shift_right, ">>", kShiftPrecedence},
    BinaryRow{BinaryOperator::bit_and, "&", kBitAndPrecedence},
    BinaryRow{BinaryOperator::bit_or, "|", kBitOrPrecedence},
    BinaryRow{BinaryOperator::bit_xor, "^", kBitXorPrecedence},
    BinaryRow{BinaryOperator::less, "<", kRelationalPrecedence},
    BinaryRow{BinaryOperator::less_equal, "<=", kRelationalPrecedence},
    BinaryRow{BinaryOperator::greater, ">", kRelationalPrecedence},
    BinaryRow{BinaryOperator::greater_equal, ">=", kRelationalPrecedence},
    BinaryRow{BinaryOperator::equal, "==", kEqualityPrecedence},
    BinaryRow{BinaryOperator::not_equal, "!=", kEqualityPrecedence},
    BinaryRow{BinaryOperator::logical_and, "&&", kLogicalAndPrecedence},
    BinaryRow{BinaryOperator::logical_or, "||", kLogicalOrPrecedence}};

struct AssignmentRow {
  AssignmentOperator op;
  std::string_view text;
  std::optional<BinaryOperator> operation;
};

constexpr std::array kAssignment = {
    AssignmentRow{AssignmentOperator::assign, "=", std::nullopt},
    AssignmentRow{AssignmentOperator::add, "+=", BinaryOperator::add},
    AssignmentRow{AssignmentOperator::subtract, "-=", BinaryOperator::subtract},
    AssignmentRow{AssignmentOperator::multiply, "*=", BinaryOperator::multiply},
    AssignmentRow{AssignmentOperator::divide, "/=", BinaryOperator::divide},
    AssignmentRow{AssignmentOperator::remainder, "%=", BinaryOperator::remainder},
    AssignmentRow{AssignmentOperator::shift_left, "<<=", BinaryOperator::shift_left},
    AssignmentRow{AssignmentOperator::shift_right, ">>=", BinaryOperator::shift_right},
    AssignmentRow{AssignmentOperator::bit_and, "&=", BinaryOperator::bit_and},
    AssignmentRow{AssignmentOperator::bit_or, "|=", BinaryOperator::bit_or},
    AssignmentRow{AssignmentOperator::bit_xor, "^=", BinaryOperator::bit_xor}};

// Rows stand in the order of their enumerators.
template <typename Table, typename Operator>
const auto& row(const Table& table, Operator op) {
  return table[static_cast<std::size_t>(op)];
}

template <typename Operator, typename Table>
std::optional<Operator> find(const Table& table, std::string_view text) {
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const auto& one) { return one.text == text; });
  return found == table.end() ? std::nullopt : std::optional(found->op);
}

}  // namespace

std::string_view spelling(UnaryOperator op) {
  return row(kUnary, op).text;
}

std::string_view spelling(BinaryOperator op) {
  return row(kBinary, op).text;
}

std::string_view spelling(AssignmentOperator op) {
  return row(kAssignment, op).text;
}

std::optional<UnaryOperator> unary_operator(std::string_view spelling) {
  return find<UnaryOperator>(kUnary, spelling);
}

std::optional<BinaryOperator> binary_operator(std::string_view spelling) {
  return find<BinaryOperator>(kBinary, spelling);
}

std::optional<AssignmentOperator> assignment_operator(std::string_view spelling) {
  return find<AssignmentOperator>(kAssignment, spelling);
}

int precedence(BinaryOperator op) {
  return row(kBinary, op).precedence;
}

bool is_comparison(BinaryOperator op) {
  return op >= BinaryOperator::less && op <= BinaryOperator::not_equal;
}

bool gives_boolean(BinaryOperator op) {
  return op >= BinaryOperator::less;
}

std::optional<BinaryOperator> negated(BinaryOperator op) {
  switch (op) {
    case BinaryOperator::less:
      return BinaryOperator::greater_equal;
    case BinaryOperator::greater_equal:
      return BinaryOperator::less;
    case BinaryOperator::greater:
      return BinaryOperator::less_equal;
    case BinaryOperator::less_equal:
      return BinaryOperator::greater;
    case BinaryOperator::equal:
      return BinaryOperator::not_equal;
    case BinaryOperator::not_equal:
      return BinaryOperator::equal;
    default:
      return std::nullopt;
  }
}

std::optional<BinaryOperator> operation_of(AssignmentOperator op) {
  return row(kAssignment, op).operation;
}

std::optional<AssignmentOperator> compound(BinaryOperator op) {
  for (const AssignmentRow& one : kAssignment) {
    if (one.operation == op) return one.op;
  }
  return std::nullopt;
}

BinaryOperator mirrored(BinaryOperator op) {
  switch (op) {
    case BinaryOperator::less:
      return BinaryOperator::greater;
    case BinaryOperator::less_equal:
      return BinaryOperator::greater_equal;
    case BinaryOperator::greater:
      return BinaryOperator::less;
    case BinaryOperator::greater_equal:
      return BinaryOperator::less_equal;
    default:
      return op;
  }
}

}  // namespace regraph::source
