// Which hardware counters to read, and what CUPTI needs to read them. Needs no GPU.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace regraph::gpu {

struct CuptiApi;

// Each tier holds the one before. Every pass runs the kernel once more; passes on GH100 (H100,
// H200) and GB100, one more on GA100.
enum class CounterTier : std::uint8_t {
  screening,  // 1 pass: what limits the kernel, how much it moved and executed
  detail,     // 2 passes: stalls, L2 hits, shared memory, FMA and load/store pipes
  full,       // 6 passes: requests, divergence, further stalls and pipes
};

// CUPTI's names of the tier's metrics.
[[nodiscard]] std::span<const std::string_view> tier_metrics(CounterTier tier);

struct CounterPlan {
  std::string chip;                         // CUPTI's name of the chip, "GH100"
  std::vector<std::string> metrics;         // that will be collected, in this order
  std::vector<std::string> unknown;         // asked for, but the chip or CUPTI lacks them
  std::vector<std::uint8_t> availability;   // as given
  std::vector<std::uint8_t> configuration;  // CUPTI's configuration image
  int passes = 0;
};

// Plans the collection of `metrics` (duplicates are dropped) on `chip`. `availability` is the
// device's counter availability image, which leaves out what a virtual or partitioned GPU lacks;
// empty without a device. Errors: unsupported (chip unknown to CUPTI), not_found (the chip has none
// of the metrics), and what CUPTI gives. Takes 1 to 50 ms.
[[nodiscard]] Result<CounterPlan> plan_counters(const std::shared_ptr<const CuptiApi>& api,
                                                std::string_view chip,
                                                std::span<const std::string_view> metrics,
                                                std::span<const std::uint8_t> availability = {});

// The chips that this CUPTI knows.
[[nodiscard]] Result<std::vector<std::string>> known_chips(const CuptiApi& api);

}  // namespace regraph::gpu
