// slice_scan: a loop that one thread runs for an output of its own, and that uses what it has
// accumulated so far, is dealt out to threads along y, while neighbours along x keep outputs of
// their own.
//
//   for (t = 0; t < n; ++t) { m = max(m, x[t * w + column]); out[t * w + column] = m; }
//
// becomes rounds in which every slice has some neighbouring iterations, for scans whose elements
// are contiguous across threads (slice_reduction is the same for loops whose totals alone are
// used). Legal under the conditions of cross_thread_scan, in a form in which all threads of a block
// reach the loop and have as many rounds.
#include "rewrite/steps/row_sharing_step.h"

#include <memory>

namespace regraph::rewrite {
namespace {

class SliceScan final : public RowSharingStep {
 public:
  std::string_view id() const override { return "slice_scan"; }

  std::vector<StepParameters> settings() const override {
    std::vector<StepParameters> result;
    for (const char* items : {"4", "8"}) {
      for (const char* slices : {"8", "16", "32"})
        result.push_back({{"slices", slices}, {"items", items}});
    }
    return result;
  }

 protected:
  Result<RowSharing> sharing_of(const StepParameters& parameters) const override {
    auto team = team_across(parameters);
    if (!team) return team.error();
    auto items = integer_parameter(parameters, "items");
    if (!items) return items.error();
    if (*items < 1 || *items > 16)
      return fail(ErrorCode::invalid_argument, "'items' must be between 1 and 16");
    team->items = *items;
    return RowSharing{*team, true};
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_slice_scan() {
  return std::make_unique<SliceScan>();
}

}  // namespace regraph::rewrite
