#include "rewrite/step_views.h"

#include <utility>

namespace regraph::rewrite {

StepViews::StepViews(const KernelState& state, const Problem& problem, const DeviceLimits& limits)
    : outer_(OuterBlocks::find(state)), whole_(state, problem, limits) {
  if (outer_) alone_.emplace(outer_->inner(), problem, limits);
}

Status StepViews::match(const StepRewriter& step, const StepParameters& parameters) const {
  if (!alone_) return step.match(whole_, parameters);
  Status status = step.match(*alone_, parameters);
  return status || step.match(whole_, parameters) ? Status() : status;
}

Result<KernelState> StepViews::apply(const StepRewriter& step,
                                     const StepParameters& parameters) const {
  if (!alone_) return step.apply(whole_, parameters);
  auto made = step.apply(*alone_, parameters);
  if (made) made = outer_->put_back(std::move(*made));
  if (made) return made;
  auto otherwise = step.apply(whole_, parameters);
  return otherwise ? std::move(otherwise) : std::move(made);
}

}  // namespace regraph::rewrite
