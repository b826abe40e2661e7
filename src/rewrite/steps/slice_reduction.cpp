// slice_reduction: the loop that one thread runs for an output is dealt out to threads along y, and
// neighbours along x keep outputs of their own.
//
//   column = blockIdx.x * blockDim.x + threadIdx.x;  for (r = 0; r < n; ++r) sum += A[r * w + column];
// becomes, with S slices,
//   for (r = threadIdx.y; r < n; r += S) sum += ...;  sum = total of sum over the S threads
//
// For reductions whose operand is contiguous across outputs, where lanes on the loop would read
// scattered (cross_thread_reduction), and outputs are few. Operands that are staged in shared
// memory by hand are read where they came from first (untile). Legal under the same conditions, in
// a form in which all threads reach the barrier between adding up and using the total.
#include "rewrite/steps/row_sharing_step.h"

#include <memory>

namespace regraph::rewrite {
namespace {

class SliceReduction final : public RowSharingStep {
 public:
  std::string_view id() const override { return "slice_reduction"; }
  std::vector<StepParameters> settings() const override {
    return {{{"slices", "4"}}, {{"slices", "8"}}, {{"slices", "16"}}, {{"slices", "32"}}};
  }

 protected:
  Result<RowSharing> sharing_of(const StepParameters& parameters) const override {
    auto team = team_across(parameters);
    if (!team) return team.error();
    return RowSharing{*team};
  }

  Status choose_kernel(const KernelAnalysis& kernel, SharedRows& rows) const override {
    const auto plain = untiled(kernel);
    if (plain) rows.opened = *plain;
    rows.kernel = rows.opened != nullptr ? &rows.opened->analysis : &kernel;
    return {};
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_slice_reduction() {
  return std::make_unique<SliceReduction>();
}

}  // namespace regraph::rewrite
