// What one iteration of a loop hands to the next: recognises accumulators, so that iterations may
// be dealt out to threads or to independent accumulators.
#pragma once

#include "base/result.h"
#include "kernel/problem.h"
#include "rewrite/analysis/selection.h"
#include "source/analysis.h"

#include <map>
#include <set>
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
  source::AssignmentOperator op = source::AssignmentOperator::add;  // compound: +=, ...
  std::string function;                                             // "fmaxf", ...
  source::BinaryOperator relation =
      source::BinaryOperator::greater;  // comparison: > where the larger
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
  [[nodiscard]] source::StmtPtr combine(const source::ExprPtr& target,
                                        const source::ExprPtr& other) const;
  // The value that changes nothing; null where repeating a value changes nothing either (max, min).
  [[nodiscard]] source::ExprPtr neutral() const;
  // Whether another order gives another rounding.
  [[nodiscard]] bool rounds() const;
};

struct LoopEffects {
  std::vector<Reduction> reductions;
  std::vector<Selection> selections;
  std::set<std::string> stored;  // global arrays written by plain stores
  // Statements of the loop that update accumulators, and which.
  std::map<const source::Stmt*, std::set<std::string>> updates;
  // Accumulators that the loop also reads otherwise: what they hold so far matters.
  std::set<std::string> running;
};

// Error: refused, when iterations depend on each other in any other way, or do what cannot be
// reordered (barriers, calls for their effect, jumps, stores to shared memory), or accumulators are
// read before the loop is over.
[[nodiscard]] Result<LoopEffects> effects_of(const source::ForLoop& loop,
                                             const source::Analysis& analysis);
// The same of loops that may read accumulators (`running`).
[[nodiscard]] Result<LoopEffects> running_effects_of(const source::ForLoop& loop,
                                                     const source::Analysis& analysis);

// Refuses reductions whose rounding the problem does not allow to change.
[[nodiscard]] Status permit_reordering(const std::vector<Reduction>& reductions,
                                       const Problem& problem);
// Whether one of them gives another rounding in another order.
[[nodiscard]] bool any_rounds(const std::vector<Reduction>& reductions);

}  // namespace regraph::rewrite
