// Code that puts together what the threads of a row have accumulated, so that all of them have the
// row's. Used by share_rows.
#pragma once

#include "rewrite/analysis/reduction_loop.h"
#include "rewrite/transform/names.h"
#include "rewrite/transform/selection_code.h"
#include "rewrite/transform/share_rows.h"
#include "source/build.h"
#include "source/ir.h"

#include <string>
#include <vector>

namespace regraph::rewrite {

// Sums that are scaled by a maximum stand behind it: each thread's is scaled to the largest of the
// threads' maxima before they are added up.
class RowTotals {
 public:
  // `lane` names a thread's place in its row. `names` must outlive it.
  RowTotals(const RowTeam& team, std::string lane, Names& names);

  // Appends the code for the accumulators to `out`; it stands in a loop where it `repeats`.
  void add(const std::vector<Reduction>& reductions, const std::vector<DealtSelection>& selections,
           bool repeats, source::Block& out);

  // The shared memory that was asked for so far, to be declared at the start of the kernel.
  [[nodiscard]] const source::Block& declarations() const { return shared_; }

 private:
  void add_along(const std::vector<Reduction>& reductions,
                 const std::vector<DealtSelection>& selections, bool repeats, source::Block& out);
  void add_across(const std::vector<Reduction>& reductions,
                  const std::vector<DealtSelection>& selections, bool repeats, source::Block& out);
  void add_lanes(const std::vector<Reduction>& reductions,
                 const std::vector<DealtSelection>& selections, int lanes,
                 const std::string& offset, source::Block& out);
  [[nodiscard]] source::ExprPtr slots_for(const std::string& name, const std::string& type,
                                          ScalarType scalar, std::vector<std::int64_t> extents);
  [[nodiscard]] source::ExprPtr lane() const { return source::variable(lane_); }

  RowTeam team_;
  std::string lane_;
  Names& names_;
  std::string offset_;
  std::string warp_offset_;
  source::Block shared_;
};

}  // namespace regraph::rewrite
