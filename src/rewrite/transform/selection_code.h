// Code that combines what several threads selected. Used by share_rows.
#pragma once

#include "rewrite/analysis/row_sharing.h"
#include "rewrite/analysis/selection.h"
#include "rewrite/forms/ir.h"
#include "rewrite/forms/names.h"

#include <memory>
#include <string>
#include <vector>

namespace regraph::rewrite {

// A selection whose iterations are dealt out: each thread carries when it took what it has, so that
// equal values are told apart as the loop itself would.
//
// A thread that took nothing still has what all began with. Where the first of equal values stays,
// whatever was taken beats that by its value; where the last stays, by a time of 1 and more.
class DealtSelection {
 public:
  // `before` gets what has to stand before the loop.
  DealtSelection(const Selection& selection, const CountedLoop& counted, Names& names,
                 Block& before);

  // The loop with the times noted.
  [[nodiscard]] std::shared_ptr<const ForLoop> noted(
      const std::shared_ptr<const ForLoop>& loop) const;

  [[nodiscard]] const std::vector<CarriedScalar>& carried() const { return carried_; }
  // Takes `others`, in the order of carried(), where they come before what this thread has.
  [[nodiscard]] StmtPtr take(const std::vector<ExprPtr>& others) const;
  // Combines groups of `lanes` neighbouring lanes, as all_reduce does.
  [[nodiscard]] StmtPtr all_select(int lanes, const std::string& offset, Names& names) const;

 private:
  const Selection& selection_;
  std::vector<CarriedScalar> carried_;
  std::size_t order_ = 0;  // of them, says when, or which of equal ones stays
  ExprPtr time_;           // of an iteration; null where a follower says it
};

}  // namespace regraph::rewrite
