// cross_thread_reduction: the loops that one thread runs over a row are dealt out to the threads of
// a warp or a block.
//
//   row = blockIdx.x * blockDim.x + threadIdx.x;  for (c = 0; c < n; ++c) sum += A[row * n + c];
// becomes, with T threads a row,
//   for (c = lane; c < n; c += T) sum += ...;  sum = total of sum over the T threads
//
// In a block of several axes the kernel is one of flat indices first (linearize).
//
// Legal as row_sharing_step.h says. A row has whole warps, or is so short that several share one:
// the shuffles of each name its own lanes.
//
// With a width, lanes have groups of so many neighbours and move them as vectors, where the row's
// length and place allow it (asked when the kernel runs, the same for all rows); a row that fits
// stays in registers between the loops (row_vectors.h).
#include "rewrite/steps/row_sharing_step.h"

#include <memory>

namespace regraph::rewrite {
namespace {

class CrossThreadReduction final : public RowSharingStep {
 public:
  std::string_view id() const override { return "cross_thread_reduction"; }
  int position() const override { return 110; }

  std::vector<StepParameters> settings() const override {
    std::vector<StepParameters> result;
    for (const char* rows : {"2", "4", "8"}) {
      result.push_back({{"threads_per_row", "32"}, {"rows_per_block", rows}});
    }
    for (const char* threads : {"8", "16"})
      result.push_back({{"threads_per_row", threads}, {"rows_per_block", "16"}});
    for (const char* threads : {"64", "128", "256", "512", "1024"}) {
      result.push_back({{"threads_per_row", threads}, {"rows_per_block", "1"}});
    }
    const std::size_t plain = result.size();
    // 8 and 16 are for elements of two bytes and of one.
    for (const char* width : {"4", "8", "16"}) {
      for (std::size_t i = 0; i < plain; ++i) {
        result.push_back(result[i]);
        result.back()["width"] = width;
      }
    }
    return result;
  }

 protected:
  Result<RowSharing> sharing_of(const StepParameters& parameters) const override {
    auto team = team_along(parameters, true);
    if (!team) return team.error();
    RowSharing sharing{*team};
    if (!parameters.contains("width")) return sharing;
    auto width = integer_parameter(parameters, "width");
    if (!width) return width.error();
    if (*width != 2 && *width != 4 && *width != 8 && *width != 16)
      return fail(ErrorCode::invalid_argument, "'width' must be 2, 4, 8 or 16");
    sharing.width = *width;
    return sharing;
  }

  Status choose_kernel(const KernelAnalysis& kernel, SharedRows& rows) const override {
    const auto flat = on_one_axis(kernel);
    if (!flat) return flat.error();
    rows.kernel = *flat;
    return {};
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_cross_thread_reduction() {
  return std::make_unique<CrossThreadReduction>();
}

}  // namespace regraph::rewrite
