// window_tile: a convolution reads its window and its filter from shared memory, strip by strip of
// channels where there are any.
//
//   for (c) for (fy) for (fx) if (inside) sum += in[c][y + fy][x + fx] * filter[c][fy][fx];
// becomes
//   for (c0) { copy in's box to a tile, zeros where it is not inside; copy the filter; barrier;
//              for (c1) for (fy) for (fx) sum += tile[...] * taps[...]; barrier; }
//   if (sum is no number) add up as before;
//
// Loops over the window stand outside, those over a thread's outputs (thread_coarsen) inside and
// written out: what neighbouring outputs share is loaded once. Where not all of it can be written
// out, the loop along which outputs share comes next to them, which reorders the sum.
//
// Legal when what is read is only read, at places that are a thread's own plus a distance that
// loops bound (neighbourhood.h) or the same for all threads; when each guard is about the thread
// alone, and the sum is seen under it alone, or about the place of an element of a product's
// factor. There the tile holds a zero. The product with it adds nothing unless the other factor is
// infinite or no number; then the sum is no number, and is added up as the original does.
#include "rewrite/analysis/shared_memory.h"
#include "rewrite/analysis/window_plan.h"
#include "rewrite/steps/step_rewriter.h"
#include "rewrite/transform/names.h"
#include "rewrite/transform/window_code.h"

#include <memory>
#include <optional>

namespace regraph::rewrite {
namespace {

class WindowTile final : public PlacedStep<WindowPlan> {
 public:
  std::string_view id() const override { return "window_tile"; }
  int position() const override { return 125; }
  std::vector<StepParameters> settings() const override {
    std::vector<StepParameters> result;
    for (const char* depth : {"all", "1", "2", "4", "8"})
      result.push_back({{"depth", depth}});
    return result;
  }

 protected:
  Result<WindowPlan> find(const KernelAnalysis& kernel,
                          const StepParameters& parameters) const override {
    auto wanted = text_parameter(parameters, "depth");
    if (!wanted) return wanted.error();
    std::optional<std::int64_t> depth;
    if (*wanted != "all") {
      auto number = integer_parameter(parameters, "depth");
      if (!number) return number.error();
      if (*number < 1)
        return fail(ErrorCode::invalid_argument, "'depth' must be all or at least 1");
      depth = *number;
    }
    auto launch = kernel.launch();
    if (!launch) return launch.error();
    if (!kernel.problem().assume.noalias) {
      return refuse(
          "the problem does not grant 'assume: {noalias: true}', so a copy could go stale");
    }
    if (const Status& status = kernel.transparent(); !status) return status.error();
    if (kernel.analysis().has_shared()) return refuse("the kernel uses shared memory already");
    if (!kernel.analysis().unknown_calls().empty()) {
      return refuse("the kernel calls '" + *kernel.analysis().unknown_calls().begin() +
                    "', which may read memory");
    }
    auto form = kernel.direct_normal();
    if (!form) return form.error();
    auto plan = plan_window(**form, **launch, kernel.problem(), depth);
    if (!plan) return plan;
    Names names((*form)->kernel);
    std::int64_t bytes = 0;
    for (WindowArray& array : plan->arrays) {
      array.tile = names.fresh(array.name + "_tile");
      bytes += bytes_of(array.variable());
    }
    if (Status status = require_shared_bytes(bytes, kernel, "the tiles need"); !status)
      return status.error();
    return plan;
  }

  KernelState rewrite(const KernelAnalysis& kernel, const WindowPlan& plan) const override {
    const KernelForm& form = **kernel.direct_normal();
    KernelState result = kernel.state();
    result.unit.kernel = form.kernel;
    result.unit.kernel.body = WindowCode(form, (*kernel.launch())->block, plan).run();
    rely_on(result, kNeedsDistinctBuffers);
    if (plan.reorders) rely_on(result, kReordersSums);
    return result;
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_window_tile() {
  return std::make_unique<WindowTile>();
}

}  // namespace regraph::rewrite
