// Why a predicted time deserves less trust than usual. A caveat is a fact of value 1, so that it
// travels with the other facts of an evaluation; its interval is already wider.
#pragma once

#include "kernel/facts.h"

#include <string>
#include <string_view>
#include <vector>

namespace regraph {

struct Caveat {
  std::string_view fact;
  std::string_view reason;  // in words, for people
};

inline constexpr Caveat kCaveats[] = {
    {"caveat_truncated_trace",
     "the cache simulation saw only the first part of each block's memory accesses"},
    {"caveat_close_bounds",
     "the two largest bounds are within 10 %, so that much depends on how far they overlap"},
    {"caveat_float_atomics",
     "floating-point atomics meet, whose retries are known only from random addresses"},
    {"caveat_unmeasured_atomics",
     "atomics on 64 bits or on single halves cost what follows from those of 32 bits; theirs was "
     "not fitted to a measurement"},
    {"caveat_local_memory", "local memory is used, whose cache traffic is not simulated"},
    {"caveat_ptx_counts", "instructions are counted in PTX: the machine code could not be read"},
    {"caveat_unequal_blocks", "blocks differ in their work, of which some were looked at"},
};

// Returns the reasons among the facts, in the order above; empty: none is known.
[[nodiscard]] inline std::vector<std::string_view> caveats_of(const Facts& facts) {
  std::vector<std::string_view> reasons;
  for (const Caveat& caveat : kCaveats) {
    if (facts.contains(caveat.fact)) reasons.push_back(caveat.reason);
  }
  return reasons;
}

// Copies the caveats among `from` to `to`.
inline void add_caveats(const Facts& from, Facts& to) {
  for (const Caveat& caveat : kCaveats) {
    if (from.contains(caveat.fact)) to[std::string(caveat.fact)] = 1.0;
  }
}

}  // namespace regraph
