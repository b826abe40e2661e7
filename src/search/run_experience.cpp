#include "search/run_experience.h"

#include <algorithm>
#include <cmath>

namespace regraph {

namespace {

// One try says as much as others: a kernel that becomes 30 times faster by a step must not make
// every later state try that step first.
constexpr double kLeastGain = -0.5;
constexpr double kMostGain = 1.5;
constexpr double kStepWeight = 4.0;
constexpr double kSettingWeight = 2.0;
constexpr double kScoreFloor = 0.02;
constexpr double kLargestShift = 1.5;

}  // namespace

void RunExperience::observe(const StepProposal& step, double log_gain, double expected) {
  const double residual = std::clamp(log_gain, kLeastGain, kMostGain) - expected;
  for (Sum* sum : {&all_, &by_step_[step.step], &by_setting_[step.text()]}) {
    sum->residuals += residual;
    ++sum->tries;
  }
}

void RunExperience::observe_failure(const StepProposal& step, double expected) {
  observe(step, kLeastGain, expected);
}

double RunExperience::shift(const StepProposal& step, double expected) const {
  const auto of_step = by_step_.find(step.step);
  if (of_step == by_step_.end()) return 0.0;
  const double mean = all_.residuals / all_.tries;
  const double step_residual = of_step->second.beyond(mean, kStepWeight);
  double residual = step_residual;
  if (const auto of_setting = by_setting_.find(step.text()); of_setting != by_setting_.end())
    residual += of_setting->second.beyond(mean + step_residual, kSettingWeight);
  const double before = std::max(expected, kScoreFloor);
  const double after = std::max(expected + residual, kScoreFloor);
  return std::clamp(std::log(after / before), -kLargestShift, kLargestShift);
}

}  // namespace regraph
