// cross_thread_scan: a loop that one thread runs over a row, and that uses what it has accumulated
// so far, is dealt out to the threads of a warp or a block.
//
//   for (c = 0; c < n; ++c) { sum += x[row * n + c]; out[row * n + c] = sum; }
//
// becomes rounds of neighbouring elements, some a thread: each adds up its own, lanes and warps
// tell each other what comes before, and then the loop's body is done as it stands (scan_code.h).
// The kernel's other loops over the row are dealt out as by cross_thread_reduction.
//
// Legal under the conditions of that step; what is accumulated may be used in the loop, but what is
// added to it must not follow from it (scan_loop.h). Several elements a thread are moved as vectors
// where the row's length and place allow it, which is asked when the kernel runs.
#include "rewrite/steps/row_sharing_step.h"

#include <memory>

namespace regraph::rewrite {
namespace {

class CrossThreadScan final : public RowSharingStep {
 public:
  std::string_view id() const override { return "cross_thread_scan"; }

  std::vector<StepParameters> settings() const override {
    std::vector<StepParameters> result;
    for (const char* items : {"4", "1"}) {
      for (const char* rows : {"4", "8"})
        result.push_back({{"threads_per_row", "32"}, {"rows_per_block", rows}, {"items", items}});
      for (const char* threads : {"128", "256"})
        result.push_back({{"threads_per_row", threads}, {"rows_per_block", "1"}, {"items", items}});
    }
    return result;
  }

 protected:
  Result<RowSharing> sharing_of(const StepParameters& parameters) const override {
    auto team = team_along(parameters);
    if (!team) return team.error();
    auto items = integer_parameter(parameters, "items");
    if (!items) return items.error();
    if (*items != 1 && *items != 2 && *items != 4 && *items != 8)
      return fail(ErrorCode::invalid_argument, "'items' must be 1, 2, 4 or 8");
    team->items = *items;
    return RowSharing{*team, true};
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_cross_thread_scan() {
  return std::make_unique<CrossThreadScan>();
}

}  // namespace regraph::rewrite
