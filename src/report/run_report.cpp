#include "report/run_report.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace regraph {

double RunReport::speedup() const {
  return improved() ? std::exp(outcome.log_speedup) : 1.0;
}

double RunReport::speedup_low() const {
  if (!improved()) return 1.0;
  return outcome.baseline_evaluation.time.low_seconds / outcome.best_evaluation.time.high_seconds;
}

double RunReport::speedup_high() const {
  if (!improved()) return 1.0;
  return outcome.baseline_evaluation.time.high_seconds / outcome.best_evaluation.time.low_seconds;
}

std::vector<std::string> RunReport::assumptions() const {
  std::set<std::string> result(outcome.best.assumptions.begin(), outcome.best.assumptions.end());
  static const std::set<std::string> kNeedDistinctBuffers = {"restrict_ldg", "smem_tile"};
  static const std::set<std::string> kReorderSums = {"reduce_shuffle"};
  for (const PathStep& step : outcome.path) {
    if (kNeedDistinctBuffers.contains(step.step.step)) result.insert("buffers do not overlap");
    if (kReorderSums.contains(step.step.step))
      result.insert("floating-point sums may be reordered");
  }
  return {result.begin(), result.end()};
}

}  // namespace regraph
