// Handlers that stand before the usual ones in runs that are watched: for races (race_detector.h),
// for the ways that conditions go, for what is written. Runs that nobody watches pay nothing.
#pragma once

#include "ptx/decode/execution.h"

namespace regraph::ptx {

// Bits of Warp::conditions.
inline constexpr std::uint8_t kConditionFalse = 1;
inline constexpr std::uint8_t kConditionTrue = 2;
inline constexpr std::uint8_t kResultFalse = 4;
inline constexpr std::uint8_t kResultTrue = 8;

struct Watch {
  bool races = false;   // BlockContext::races is set
  bool paths = false;   // fill Warp::conditions
  bool writes = false;  // BlockContext::writes is set; not together with races
};

// The handler to bind to `record` instead of `usual`, which BlockContext::handlers must hold too.
[[nodiscard]] Handler watched_handler(const Record& record, Handler usual, const Watch& watch);

}  // namespace regraph::ptx
