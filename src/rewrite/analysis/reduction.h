// What loops accumulate, and how two partial results become one.
#pragma once

#include "base/result.h"
#include "kernel/problem.h"
#include "rewrite/forms/ir.h"

#include <string>
#include <vector>

namespace regraph::rewrite {

// A scalar that a loop only updates, by one associative and commutative operation.
struct Reduction {
  enum class Kind { compound, function, comparison };
  Kind kind = Kind::compound;
  std::string variable;
  std::string type;
  ScalarType scalar = ScalarType::f32;
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
