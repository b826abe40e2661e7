#include "fleet/gpu_use.h"

#include <algorithm>
#include <set>

namespace regraph::fleet {
namespace {

constexpr int Measurement::*kCounts[] = {
    &Measurement::timed,        &Measurement::pruned,   &Measurement::faults,
    &Measurement::workers,      &Measurement::profiled, &Measurement::exact_looks,
    &Measurement::double_looks,
};
constexpr double Measurement::*kSeconds[] = {
    &Measurement::compile_and_verify_seconds,
    &Measurement::model_seconds,
    &Measurement::probation_seconds,
    &Measurement::timing_seconds,
    &Measurement::furnishing_seconds,
    &Measurement::profiling_seconds,
    &Measurement::answer_seconds,
    &Measurement::waiting_seconds,
};

}  // namespace

void add_once(std::vector<std::string>& texts, std::string text) {
  if (std::ranges::find(texts, text) == texts.end()) texts.push_back(std::move(text));
}

Measurement sum_of_uses(const std::map<std::pair<std::string, std::uint64_t>, Measurement>& uses) {
  Measurement sum;
  std::set<std::string> workers;
  for (const auto& [key, use] : uses) {
    workers.insert(key.first);
    if (sum.gpu.empty()) {
      sum.gpu = use.gpu;
      sum.driver_version = use.driver_version;
      sum.clock_hertz = use.clock_hertz;
    }
    for (const auto count : kCounts)
      sum.*count += use.*count;
    for (const auto seconds : kSeconds)
      sum.*seconds += use.*seconds;
    sum.noise = std::max(sum.noise, use.noise);
    if (sum.no_counters.empty()) sum.no_counters = use.no_counters;
    for (const std::string& seen : use.disturbances)
      add_once(sum.disturbances, key.first + ": " + seen);
  }
  sum.devices = static_cast<int>(workers.size());
  return sum;
}

}  // namespace regraph::fleet
