// An edge of the ReGraph: what to expect from step B after step A, published and measured.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace regraph {

// Outcome of one attempt to apply a step.
struct TransitionOutcome {
  bool verified = false;  // compiled, ran and gave the right results
  double log_gain = 0.0;  // ln(time before / time after); ignored unless verified
};

// Sums over attempts on one device. Only verified attempts contribute gains.
struct GainStatistics {
  std::int64_t attempts = 0;
  std::int64_t verified = 0;
  std::int64_t failures = 0;
  double sum_log_gain = 0.0;
  double sum_squared_log_gain = 0.0;

  void add(const TransitionOutcome& outcome);
  void add(const GainStatistics& other);
  // Standard deviation of the verified log-gains (n - 1 in the denominator), 0 below two samples.
  [[nodiscard]] double deviation() const;
  bool operator==(const GainStatistics&) const = default;
};

struct Transition {
  double expected_speedup = 1.0;  // published factor, > 0
  double prior_weight = 1.0;      // how many measurements that expectation is worth, >= 0
  std::map<std::string, GainStatistics, std::less<>> statistics;  // by device

  // Expected log-gain on `device`: measured gains shrunk toward the published one, in two levels
  // (normal-normal shrinkage with known weights):
  //   g_all = (w0 * ln(expected_speedup) + sum of gains on other devices) / (w0 + their number)
  //   g     = (w1 * g_all + sum of gains on the device) / (w1 + their number),  w1 = 4
  // so that other machines inform a new one, and its own measurements soon outweigh them.
  [[nodiscard]] double expected_log_gain(std::string_view device) const;

  // Probability that an attempt is verified: Beta(4, 1) prior, all devices pooled, because legality
  // hardly depends on the device.
  [[nodiscard]] double success_rate() const;
  bool operator==(const Transition&) const = default;
};

}  // namespace regraph
