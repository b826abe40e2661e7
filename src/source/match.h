// Recognising shapes of expressions. A pattern is made of smaller ones and is asked with `matches`:
//
//   ExprPtr a, b;
//   if (matches(expr, sum(any(a), any(b)))) ...                        // a + b
//   if (matches(expr, called("fmaf", any(a), any(b), named("s")))) ...   // fmaf(a, b, s)
//
// Variables given to `any` are set as the match goes on, also where it fails in the end.
#pragma once

#include "source/ir.h"
#include "source/walk.h"

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace regraph::source {

// Plain questions.
[[nodiscard]] bool is_named(const Expr& expr, std::string_view name);  // the variable
[[nodiscard]] bool is_named(const ExprPtr& expr, std::string_view name);
[[nodiscard]] bool is_builtin(const Expr& expr, std::string_view name);
[[nodiscard]] bool is_number(const ExprPtr& expr, std::int64_t value);  // the integer literal
// x of (float)x and of CUDA's functions that convert between float, half and bfloat16 and round to
// nearest, as __half2float(x) and __float2half(x); null for others.
[[nodiscard]] ExprPtr converted(const ExprPtr& expr);
// A literal zero of any type and spelling, also behind conversions; not -0.0f, whose sign would be
// lost.
[[nodiscard]] bool is_zero(const ExprPtr& expr);
// The node when it is that operation, else null.
[[nodiscard]] const Unary* as_unary(const Expr& expr, UnaryOperator op);
[[nodiscard]] const Unary* as_unary(const ExprPtr& expr, UnaryOperator op);
[[nodiscard]] const Binary* as_binary(const ExprPtr& expr, BinaryOperator op);
// The fused multiply-add a * b + c of floating types by any of its names, null for anything else:
// fma, fmaf, __fmaf_rn, __fma_rn. Its arguments are a, b, c.
[[nodiscard]] const Call* as_multiply_add(const ExprPtr& expr);
// What an assignment of `value` adds to the target, which the term may mention once more.
struct AddedTerm {
  ExprPtr term;
  bool is_subtracted = false;
};
// t of: target += t, target -= t, target = target + t, target = t + target, target = target - t,
// and a * b of target = fma(a, b, target). Nothing for other assignments.
[[nodiscard]] std::optional<AddedTerm> added_term(const ExprPtr& target, AssignmentOperator op,
                                                  const ExprPtr& value);
[[nodiscard]] std::optional<AddedTerm> added_term(const Assignment& assignment);
// What stands behind conversions that keep every value, by any spelling: x of (float)x and of
// __half2float(x), where x is __half; the expression itself otherwise.
[[nodiscard]] ExprPtr widened(const ExprPtr& expr);
// What stands behind &, null for anything else.
[[nodiscard]] ExprPtr addressed(const Expr& expr);

namespace pattern {

// Anything.
struct Any {
  ExprPtr* found = nullptr;
  bool operator()(const ExprPtr& expr) const {
    if (found != nullptr) *found = expr;
    return expr != nullptr;
  }
};

// The variable of this name.
struct Named {
  std::string_view name;
  bool operator()(const ExprPtr& expr) const { return is_named(expr, name); }
};

// Any variable; its name.
struct SomeVariable {
  std::string* name = nullptr;
  bool operator()(const ExprPtr& expr) const {
    const auto* variable = as<VariableReference>(expr);
    if (variable != nullptr && name != nullptr) *name = variable->name;
    return variable != nullptr;
  }
};

struct Number {
  std::int64_t value;
  bool operator()(const ExprPtr& expr) const { return is_number(expr, value); }
};

// Structurally equal.
struct Same {
  const ExprPtr& other;
  bool operator()(const ExprPtr& expr) const { return equal(expr, other); }
};

template <typename Left, typename Right>
struct Operation {
  BinaryOperator op;
  Left left;
  Right right;
  bool operator()(const ExprPtr& expr) const {
    const auto* binary = as<Binary>(expr);
    return binary != nullptr && binary->op == op && left(binary->left) && right(binary->right);
  }
};

template <typename Operand>
struct Address {
  Operand operand;
  bool operator()(const ExprPtr& expr) const {
    const auto* unary = as<Unary>(expr);
    return unary != nullptr && unary->op == UnaryOperator::address_of && operand(unary->operand);
  }
};

template <typename Base, typename Index>
struct Element {
  Base base;
  Index index;
  bool operator()(const ExprPtr& expr) const {
    const auto* subscript = as<Subscript>(expr);
    return subscript != nullptr && base(subscript->base) && index(subscript->index);
  }
};

template <typename... Arguments>
struct FunctionCall {
  std::string_view function;
  std::tuple<Arguments...> arguments;
  bool operator()(const ExprPtr& expr) const {
    const auto* call = as<Call>(expr);
    if (call == nullptr || call->function != function ||
        call->arguments.size() != sizeof...(Arguments)) {
      return false;
    }
    return all(*call, std::index_sequence_for<Arguments...>());
  }

 private:
  template <std::size_t... Positions>
  bool all(const Call& call, std::index_sequence<Positions...>) const {
    return (std::get<Positions>(arguments)(call.arguments[Positions]) && ...);
  }
};

}  // namespace pattern

[[nodiscard]] inline pattern::Any any() {
  return {};
}
[[nodiscard]] inline pattern::Any any(ExprPtr& found) {
  return {&found};
}
[[nodiscard]] inline pattern::Named named(std::string_view name) {
  return {name};
}
[[nodiscard]] inline pattern::SomeVariable some_variable(std::string& name) {
  return {&name};
}
[[nodiscard]] inline pattern::Number number(std::int64_t value) {
  return {value};
}
// `other` must outlive the pattern.
[[nodiscard]] inline pattern::Same same(const ExprPtr& other) {
  return {other};
}
template <typename Left, typename Right>
[[nodiscard]] pattern::Operation<Left, Right> operation(BinaryOperator op, Left left, Right right) {
  return {op, std::move(left), std::move(right)};
}
template <typename Left, typename Right>
[[nodiscard]] pattern::Operation<Left, Right> sum(Left left, Right right) {
  return {BinaryOperator::add, std::move(left), std::move(right)};
}
template <typename Left, typename Right>
[[nodiscard]] pattern::Operation<Left, Right> quotient(Left left, Right right) {
  return {BinaryOperator::divide, std::move(left), std::move(right)};
}
template <typename Operand>
[[nodiscard]] pattern::Address<Operand> address_of(Operand operand) {
  return {std::move(operand)};
}
template <typename Base, typename Index>
[[nodiscard]] pattern::Element<Base, Index> subscript(Base base, Index index) {
  return {std::move(base), std::move(index)};
}
template <typename... Arguments>
[[nodiscard]] pattern::FunctionCall<Arguments...> called(std::string_view function,
                                                         Arguments... arguments) {
  return {function, std::tuple<Arguments...>(std::move(arguments)...)};
}

template <typename Pattern>
[[nodiscard]] bool matches(const ExprPtr& expr, const Pattern& pattern) {
  return pattern(expr);
}

}  // namespace regraph::source
