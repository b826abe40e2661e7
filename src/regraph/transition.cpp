#include "regraph/transition.h"

#include <algorithm>
#include <cmath>

namespace regraph {

void GainStatistics::add(const TransitionOutcome& outcome) {
  ++attempts;
  if (!outcome.verified || !std::isfinite(outcome.log_gain)) {
    ++failures;
    return;
  }
  ++verified;
  sum_log_gain += outcome.log_gain;
  sum_squared_log_gain += outcome.log_gain * outcome.log_gain;
}

void GainStatistics::add(const GainStatistics& other) {
  attempts += other.attempts;
  verified += other.verified;
  failures += other.failures;
  sum_log_gain += other.sum_log_gain;
  sum_squared_log_gain += other.sum_squared_log_gain;
}

double GainStatistics::deviation() const {
  if (verified < 2) return 0.0;
  const auto count = static_cast<double>(verified);
  const double mean = sum_log_gain / count;
  const double variance = (sum_squared_log_gain - count * mean * mean) / (count - 1.0);
  return std::sqrt(std::max(variance, 0.0));
}

double Transition::expected_log_gain(std::string_view device) const {
  constexpr double kOtherDevicesWeight = 4.0;
  GainStatistics own;
  GainStatistics others;
  for (const auto& [key, entry] : statistics)
    (key == device ? own : others).add(entry);

  const double published = std::log(expected_speedup);
  const double others_weight = prior_weight + static_cast<double>(others.verified);
  const double pooled = others_weight > 0.0
                            ? (prior_weight * published + others.sum_log_gain) / others_weight
                            : published;
  const double own_weight = static_cast<double>(own.verified);
  return (kOtherDevicesWeight * pooled + own.sum_log_gain) / (kOtherDevicesWeight + own_weight);
}

double Transition::success_rate() const {
  constexpr double kPriorSuccesses = 4.0;
  constexpr double kPriorFailures = 1.0;
  GainStatistics total;
  for (const auto& [device, entry] : statistics)
    total.add(entry);
  return (kPriorSuccesses + static_cast<double>(total.verified)) /
         (kPriorSuccesses + kPriorFailures + static_cast<double>(total.attempts));
}

}  // namespace regraph
