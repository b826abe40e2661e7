// What buffers hold at the sizes at which kernels are timed.
#pragma once

#include "eval/verify/kernel_run.h"
#include "kernel/problem.h"

#include <cstdint>

namespace regraph::verify {

// Why a launch runs there.
enum class BenchData : std::uint8_t {
  exact,  // floating-point inputs are small integers, on which sums do not round
  timed,  // what the timing model looks at: the manifest's inputs, in the same memory
  equal,  // exact, and all integers of a buffer the same: counters that overflow
};

// The same inputs for the original and for candidates. Patterns repeat after a prime number of
// pages, so that an index that wraps at a power of two finds other values. Where contents were
// captured, these.
class BenchInputs {
 public:
  BenchInputs(const Problem& problem, const Symbols& symbols, std::uint64_t seed,
              BenchData data = BenchData::exact);
  // One pattern an argument, not empty for inputs; symbols have their whole content. Of timed
  // launches also what other buffers hold before.
  [[nodiscard]] const Buffers& patterns() const { return patterns_; }
  [[nodiscard]] BenchData data() const { return data_; }

 private:
  Buffers patterns_;
  BenchData data_;
};

// Whether equal integers are inputs that the problem allows.
[[nodiscard]] bool has_equal_data(const Problem& problem);

}  // namespace regraph::verify
