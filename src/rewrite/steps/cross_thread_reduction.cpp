// cross_thread_reduction: the loops that one thread runs over a row are dealt out to the threads of
// a warp or a block.
//
//   row = blockIdx.x * blockDim.x + threadIdx.x;  for (c = 0; c < n; ++c) sum += A[row * n + c];
// becomes, with T threads a row,
//   for (c = lane; c < n; c += T) sum += ...;  sum = total of sum over the T threads
//
// In a block of several axes the kernel is one of flat indices first (linearize).
//
// Legal when a thread is known by its global index alone, so that all threads of a row can do the
// rest of the kernel alike (stores by the first of them only), and each shared loop has no other
// dependence between iterations than accumulators. Sums need the problem's leave to be reordered.
// Rows that share a warp with others do not exist: a row has whole warps.
//
// With a width, lanes have groups of so many neighbours and move them as vectors, where the row's
// length and place allow it (asked when the kernel runs, the same for all rows); a row that fits
// stays in registers between the loops (row_vectors.h).
#include "rewrite/analysis/row_sharing.h"
#include "rewrite/analysis/row_vectors.h"
#include "rewrite/analysis/thread_rows.h"
#include "rewrite/steps/macro_step.h"
#include "rewrite/steps/step_rewriter.h"
#include "rewrite/transform/share_rows.h"
#include "rewrite/transform/warp_shuffle.h"

#include <memory>
#include <optional>
#include <utility>

namespace regraph::rewrite {
namespace {

struct RowPlace {
  int threads = 0;  // a row
  int rows = 0;     // a block
  RowPlan plan;
  std::optional<RowVectors> vectors;
  Launch launch;                           // afterwards
  const KernelAnalysis* kernel = nullptr;  // whose rows they are
};

class CrossThreadReduction final : public PlacedStep<RowPlace> {
 public:
  std::string_view id() const override { return "cross_thread_reduction"; }
  int position() const override { return 110; }

  std::vector<StepParameters> settings() const override {
    std::vector<StepParameters> result;
    for (const char* rows : {"2", "4", "8"}) {
      result.push_back({{"threads_per_row", "32"}, {"rows_per_block", rows}});
    }
    for (const char* threads : {"64", "128", "256", "512", "1024"}) {
      result.push_back({{"threads_per_row", threads}, {"rows_per_block", "1"}});
    }
    const std::size_t plain = result.size();
    for (std::size_t i = 0; i < plain; ++i) {
      result.push_back(result[i]);
      result.back()["width"] = "4";
    }
    return result;
  }

 protected:
  Result<RowPlace> find(const KernelAnalysis& kernel,
                        const StepParameters& parameters) const override {
    const auto flat = on_one_axis(kernel);
    if (!flat) return flat.error();
    auto place = find_in(**flat, parameters);
    if (place) place->kernel = *flat;
    return place;
  }

  KernelState rewrite(const KernelAnalysis&, const RowPlace& place) const override {
    KernelState result = rewrite_in(*place.kernel, place);
    place.kernel->note_reliance(result);
    return result;
  }

 private:
  static Result<RowPlace> find_in(const KernelAnalysis& kernel, const StepParameters& parameters) {
    RowPlace place;
    if (Status status = read(parameters, place); !status) return status.error();
    auto launch = kernel.launch();
    if (!launch) return launch.error();
    if (Status status = require_thread_a_row(kernel, **launch); !status) return status.error();
    auto form = kernel.single_exit();
    if (!form) return form.error();
    auto plan = plan_rows((*form)->kernel, (*form)->analysis, place.threads,
                          place.threads > kWarpLanes, kernel.problem());
    if (!plan) return plan.error();
    auto dealt = launch_for_rows(**form, **launch, place.rows,
                                 {static_cast<std::uint32_t>(place.threads * place.rows), 1, 1});
    if (!dealt) return dealt.error();
    for (const auto& [loop, shared] : *plan) {
      if (Status status = permit_reordering(shared.reductions, kernel.problem()); !status)
        return status.error();
    }
    if (parameters.contains("width")) {
      auto width = integer_parameter(parameters, "width");
      if (!width) return width.error();
      if (*width != 2 && *width != 4)
        return fail(ErrorCode::invalid_argument, "'width' must be 2 or 4");
      auto vectors = plan_row_vectors((*form)->kernel, (*form)->analysis, *plan, place.threads,
                                      *width, kernel.problem());
      if (!vectors) return vectors.error();
      place.vectors = std::move(*vectors);
    }
    place.plan = std::move(*plan);
    place.launch = std::move(*dealt);
    if (Status status = require_possible(place.launch, kernel); !status) return status.error();
    return place;
  }

  static KernelState rewrite_in(const KernelAnalysis& kernel, const RowPlace& place) {
    const Kernel& form = (*kernel.single_exit())->kernel;
    KernelState result = kernel.state();
    for (const auto& [loop, shared] : place.plan) {
      if (any_rounds(shared.reductions)) rely_on(result, kReordersSums);
    }
    rely_on(result, kNeedsDistinctBuffers);
    if (place.vectors) rely_on_alignment(result, kernel.problem().assume.align);
    result.unit.kernel.body =
        share_rows(form, place.plan, place.vectors, {place.threads, place.rows});
    relaunch(result, place.launch);
    return result;
  }

  static Status read(const StepParameters& parameters, RowPlace& place) {
    auto threads = integer_parameter(parameters, "threads_per_row");
    if (!threads) return threads.error();
    auto rows = integer_parameter(parameters, "rows_per_block");
    if (!rows) return rows.error();
    place.threads = *threads;
    place.rows = *rows;
    return require_whole_warps(*threads, *rows);
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_cross_thread_reduction() {
  return std::make_unique<CrossThreadReduction>();
}

}  // namespace regraph::rewrite
