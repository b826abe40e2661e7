#include "report/run_report.h"

#include <algorithm>
#include <cmath>

namespace regraph {

namespace {

const SpeedupEstimate* measured_last(const RunReport& report) {
  if (!report.measurement || !report.measurement->speedup) return nullptr;
  return &report.measurement->speedup->cold;
}

}  // namespace

std::string RunReport::kernel_file(const char* stem) const {
  return stem + std::string(problem.source_path.ends_with(".py") ? ".py" : ".cu");
}

double RunReport::speedup() const {
  if (!outcome.improved()) return 1.0;
  const SpeedupEstimate* const last = measured_last(*this);
  return last != nullptr ? last->ratio : std::exp(outcome.log_speedup);
}

double RunReport::speedup_low() const {
  if (!outcome.improved()) return 1.0;
  if (const SpeedupEstimate* const last = measured_last(*this)) return last->low;
  return outcome.baseline_evaluation.time.low_seconds / outcome.best_evaluation.time.high_seconds;
}

double RunReport::speedup_high() const {
  if (!outcome.improved()) return 1.0;
  if (const SpeedupEstimate* const last = measured_last(*this)) return last->high;
  return outcome.baseline_evaluation.time.high_seconds / outcome.best_evaluation.time.low_seconds;
}

std::vector<std::string> RunReport::assumptions() const {
  std::vector<std::string> all = outcome.best.assumptions;
  if (!outcome.improved()) return all;
  const std::vector<std::string> constants = problem.constant_contents();
  all.insert(all.end(), constants.begin(), constants.end());
  all.insert(all.end(), problem.held_fixed.begin(), problem.held_fixed.end());
  return all;
}

}  // namespace regraph
