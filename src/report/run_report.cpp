#include "report/run_report.h"

#include <algorithm>
#include <cmath>

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
  return outcome.best.assumptions;
}

}  // namespace regraph
