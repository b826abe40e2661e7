// What tries of a step brought, counted so that no kernel and no family of kernels outvotes the
// others. Derived from the table of observations (learn/observation_table.h), never summed up by
// hand.
//
//   observation  a step at one state of one kernel; y = max(0, best log-gain of its settings there)
//   vote         one a family: the mean over its kernels of their observations' mean y
//
// The positive part, because a search keeps a maximum: a try that loses costs an evaluation and
// nothing else. Mean gains rank steps worse than published ones do; votes of positive parts better.
#pragma once

#include "kernel/evaluation.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace regraph {

// No kernel is e^64 times faster; what is beyond that is no gain.
inline constexpr double kLargestLogGain = 64.0;

// Whose gains are asked for: those of a device, predicted or measured.
struct GainSource {
  std::string device;
  TimeMethod method = TimeMethod::predicted;
};

struct GainStatistics {
  std::int64_t families = 0;
  std::int64_t kernels = 0;
  std::int64_t observations = 0;
  double sum_positive = 0.0;  // over families, of their votes; log-gains
  std::int64_t tries = 0;     // settings of the step that were applied
  std::int64_t verified = 0;  // of those, gave a correct kernel
  double sum_log_gain = 0.0;  // over verified tries

  // The best estimate of a vote, when `prior` is worth `weight` families: (w p + sum) / (w + n).
  [[nodiscard]] double shrunk(double prior, double weight) const;
  void add(const GainStatistics& other);
  // Empty when it can be what observations gave; else what is wrong, for an error message.
  [[nodiscard]] std::string nonsense() const;
  bool operator==(const GainStatistics&) const = default;
};

// Statistics by device. Predicted and measured gains are never added up: where times are measured,
// what was predicted only says where to start from.
struct LearnedGains {
  using ByDevice = std::map<std::string, GainStatistics, std::less<>>;
  ByDevice predicted;
  ByDevice measured;

  [[nodiscard]] bool empty() const { return predicted.empty() && measured.empty(); }
  [[nodiscard]] ByDevice& by(TimeMethod method) {
    return method == TimeMethod::predicted ? predicted : measured;
  }
  [[nodiscard]] const ByDevice& by(TimeMethod method) const {
    return method == TimeMethod::predicted ? predicted : measured;
  }
  // Whether anything in it says something about `source`.
  [[nodiscard]] bool speaks_of(const GainSource& source) const {
    return !predicted.empty() || (source.method == TimeMethod::measured && !measured.empty());
  }

  // Expected positive log-gain, `prior` shrunk toward what was learned: predicted gains first, then
  // measured ones where `source` is measured.
  //   of all devices  (w p + sum over devices of sum_positive) / (w + families)
  [[nodiscard]] double pooled(double prior, double weight, const GainSource& source) const;
  //   by device       the same with the other devices, then with the device's own, weight w'
  [[nodiscard]] double own(double prior, double others_weight, double own_weight,
                           const GainSource& source) const;
  // Of all devices and both ways of timing: legality hardly depends on them.
  [[nodiscard]] std::int64_t tries() const;
  [[nodiscard]] std::int64_t verified() const;
  bool operator==(const LearnedGains&) const = default;
};

}  // namespace regraph
