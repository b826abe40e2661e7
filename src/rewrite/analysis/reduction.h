// What loops accumulate, and how two partial results become one.
#pragma once

#include "base/result.h"
#include "kernel/problem.h"
#include "rewrite/forms/ir.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace regraph::rewrite {

// Whether the operation puts parts together in any order and grouping: one of * + & | ^.
[[nodiscard]] bool is_associative(std::optional<AssignmentOperator> op);
// Greater for a function that returns the larger of two values ("fmaxf"), less for one that returns
// the smaller; nothing for others.
[[nodiscard]] std::optional<BinaryOperator> extremum_of(std::string_view function);

// A scalar that a loop carries from one iteration to the next.
struct CarriedScalar {
  std::string variable;
  std::string type;
  ScalarType scalar = ScalarType::f32;

  [[nodiscard]] ExprPtr value() const;
  // Its declaration, with what it begins with; null: nothing.
  [[nodiscard]] StmtPtr declared(ExprPtr value) const;
};

// One that a loop only updates, by one associative and commutative operation.
struct Reduction : CarriedScalar {
  enum class Kind { compound, function, comparison };

  Reduction() = default;
  explicit Reduction(CarriedScalar accumulator, Kind operation = Kind::compound)
      : CarriedScalar(std::move(accumulator)), kind(operation) {}

  Kind kind = Kind::compound;
  AssignmentOperator op = AssignmentOperator::add;    // compound: +=, ...
  std::string function;                               // "fmaxf", ...
  BinaryOperator relation = BinaryOperator::greater;  // comparison: > where the larger
                                                      // stays, < where the smaller does
  // Of a sum that the loop scales whenever a maximum grows: that maximum, and the function that
  // scales. Parts have to be scaled to one maximum before they are put together. Empty for others.
  std::string scaled_by;
  std::string exponential;

  // Whether another reduction of the variable does the same.
  [[nodiscard]] bool same_operation(const Reduction& other) const {
    return kind == other.kind && op == other.op && function == other.function &&
           relation == other.relation;
  }

  // Whether the larger of two values stays.
  [[nodiscard]] bool keeps_largest() const;
  // target = target op other.
  [[nodiscard]] StmtPtr combine(const ExprPtr& target, const ExprPtr& other) const;
  // The value that changes nothing; null where repeating a value changes nothing either (max, min).
  [[nodiscard]] ExprPtr neutral() const;
  // Whether another order gives another rounding.
  [[nodiscard]] bool rounds() const;
};

// Refuses reductions whose rounding the problem does not allow to change.
[[nodiscard]] Status permit_reordering(const std::vector<Reduction>& reductions,
                                       const Problem& problem);
// Whether one of them gives another rounding in another order.
[[nodiscard]] bool any_rounds(const std::vector<Reduction>& reductions);

}  // namespace regraph::rewrite
