#include "rewrite/step_views.h"

#include "rewrite/forms/simplify.h"
#include "source/missing_operand.h"

#include <utility>

namespace regraph::rewrite {

namespace {

// Images, channels and a dimension of their own.
constexpr std::size_t kMostDigits = 3;

}  // namespace

StepViews::StepViews(const KernelState& state, const Problem& problem, const DeviceLimits& limits)
    : whole_(state, problem, limits) {
  const KernelState* seen = &state;
  while (outer_.size() < kMostDigits) {
    auto outer = OuterBlocks::find(*seen);
    if (!outer) break;
    outer_.push_back(std::move(*outer));
    seen = &outer_.back().inner();
  }
  if (!outer_.empty()) alone_.emplace(outer_.back().inner(), problem, limits);
}

Status StepViews::match(const StepRewriter& step, const StepParameters& parameters) const {
  return without_missing_operands([&] { return match_view(step, parameters); });
}

Result<KernelState> StepViews::apply(const StepRewriter& step,
                                     const StepParameters& parameters) const {
  return without_missing_operands([&]() -> Result<KernelState> {
    auto made = apply_to_view(step, parameters);
    if (made && made->unit.kernel.body != whole_.state().unit.kernel.body)
      made->unit.kernel.body = simplified(made->unit.kernel.body);
    return made;
  });
}

Status StepViews::match_view(const StepRewriter& step, const StepParameters& parameters) const {
  if (!alone_) return step.match(whole_, parameters);
  Status status = step.match(*alone_, parameters);
  return status || step.match(whole_, parameters) ? Status() : status;
}

Result<KernelState> StepViews::apply_to_view(const StepRewriter& step,
                                             const StepParameters& parameters) const {
  if (!alone_) return step.apply(whole_, parameters);
  auto made = step.apply(*alone_, parameters);
  for (auto outer = outer_.rbegin(); made && outer != outer_.rend(); ++outer)
    made = outer->put_back(std::move(*made));
  if (made) return made;
  auto otherwise = step.apply(whole_, parameters);
  return otherwise ? std::move(otherwise) : std::move(made);
}

}  // namespace regraph::rewrite
