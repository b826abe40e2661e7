// online_fusion: a loop that finds the largest value and one that adds up what is weighted by
// exp(value - largest) become one, which scales its sums down when the largest value grows.
//
//   for (t) m = fmaxf(m, x[t]);  for (t) { w = expf(x[t] - m); s += w; }
// becomes
//   for (t) {
//     if (x[t] > m) s *= expf(m - x[t]);
//     m = fmaxf(m, x[t]); w = expf(x[t] - m); s += w;
//   }
//
// Legal where both loops compute the same values in the same order, the sums start from zero and
// are linear in the weights, and nothing else of the second loop follows the largest value
// (online_loops.h, weighted_sums.h). While all values are minus infinity, weights are zero; if they
// still are at the end, the sums are no numbers, as in the original. The largest value is the
// original's, bit for bit; sums are rounded differently.
#include "rewrite/analysis/online_loops.h"
#include "rewrite/forms/forwarded_copies.h"
#include "rewrite/steps/step_rewriter.h"
#include "rewrite/transform/online_loop.h"

#include <memory>
#include <utility>

namespace regraph::rewrite {
namespace {

struct OnlinePlace {
  std::shared_ptr<const KernelForm> form;  // that the loops are of
  OnlineLoops loops;
};

class OnlineFusion final : public PlacedStep<OnlinePlace> {
 public:
  std::string_view id() const override { return "online_fusion"; }
  std::vector<StepParameters> settings() const override { return {{{"form", "online"}}}; }

 protected:
  Result<OnlinePlace> find(const KernelAnalysis& kernel,
                           const StepParameters& parameters) const override {
    auto form = text_parameter(parameters, "form");
    if (!form) return form.error();
    if (*form != "online") return fail(ErrorCode::invalid_argument, "'form' must be online");
    if (const Status& status = kernel.transparent(); !status) return status.error();
    // The largest value may have passed through functions.
    auto plain = std::make_shared<const KernelForm>(with_forwarded_copies(kernel.direct()->kernel));
    auto loops = online_loops(plain->kernel, plain->analysis);
    if (!loops) return loops.error();
    if (!kernel.problem().assume.reassociate) {
      return refuse(
          "the problem does not grant 'assume: {reassociate: true}', and sums would be rounded "
          "differently");
    }
    return OnlinePlace{std::move(plain), std::move(*loops)};
  }

  KernelState rewrite(const KernelAnalysis& kernel, const OnlinePlace& place) const override {
    KernelState result = kernel.state();
    result.unit.kernel = place.form->kernel;
    result.unit.kernel.body = with_online_loop(place.form->kernel, place.loops);
    rely_on(result, kReordersSums);
    return result;
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_online_fusion() {
  return std::make_unique<OnlineFusion>();
}

}  // namespace regraph::rewrite
