// The best value so far and what belongs to it, carried through a loop:
//
//   if (v > best) { best = v; position = i; }
//
// and the same by values chosen: `bool better = v > best; best = better ? v : best; ...`. Or of
// equal values the one with the smaller or larger position stays (pair_choice.h).
#pragma once

#include "rewrite/analysis/reduction.h"
#include "rewrite/forms/ir.h"
#include "source/analysis.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace regraph::rewrite {

struct Selection {
  // Where it is updated in the loop.
  struct Update {
    const Stmt* first = nullptr;     // the branch, or the first statement that chooses
    ExprPtr condition;               // under which the value is taken
    std::vector<ExprPtr> followers;  // what they become, in the order of `followers` below
  };

  CarriedScalar value;
  std::vector<CarriedScalar> followers;
  BinaryOperator relation = BinaryOperator::greater;  // or less: under which a
                                                      // value beats the one so far
  bool takes_equal = false;  // of equal ones the last stays, else the first
  // Of equal ones that with the smaller or larger first follower stays, and it is the only one.
  std::optional<BinaryOperator> tie;
  std::vector<Update> updates;

  // Whether another update of the value is of the same selection.
  [[nodiscard]] bool same_operation(const Selection& other) const;
  // The value, then the followers.
  [[nodiscard]] std::vector<CarriedScalar> carried() const;
};

struct SelectionMatch {
  Selection selection;  // with one update
  // The statements that it is made of, and what they declare: nothing else in the loop may use
  // that.
  std::set<const Stmt*> statements;
  std::set<std::string> temporaries;
};

// The selection whose statements begin at `position` of `block`, in a loop that declares `inside`.
// Nothing where they are anything else.
[[nodiscard]] std::optional<SelectionMatch> match_selection(const Block& block,
                                                            std::size_t position,
                                                            const std::set<std::string>& inside,
                                                            const Analysis& analysis);

}  // namespace regraph::rewrite
