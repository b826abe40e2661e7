// What verification draws from a seed: each purpose has a stream of its own.
#pragma once

#include <cstdint>

namespace regraph::verify {

enum RandomStream : std::uint64_t {
  kInputStream = 1,
  kPoisonStream = 2,
  kBenchInputs = 3,
  kBenchPoison = 4,
  kBenchBlocks = 5,
  kCandidatePoison = 6,
  kCandidateBlocks = 7,
  kHardwareStream = 8,
  kDrawnSizes = 9,
  kMovedInputs = 10,
};

}  // namespace regraph::verify
