// A bench size on inputs whose sums are exact in any order of summation.
//
// An original that adds a hundred million numbers to one fp32 can be off by more than the tolerance
// itself: each addition rounds against a partial sum that leaves few bits for the addend, and the
// errors go one way. A candidate that sums in blocks is nearer to the truth and looks wrong. On
// small integers of zero mean nothing is rounded, and the two must agree bit for bit.
#pragma once

#include "eval/gpu/timing/bench_reference.h"

#include <memory>
#include <optional>
#include <string>

namespace regraph::gpu {

// Whether sums of that many terms, added one after another, may be off by more than reorderings
// explain: their length times the unit roundoff is no longer far below one (Higham, Accuracy and
// Stability of Numerical Algorithms, section 4.2; with fewer terms roundings are as good as
// unbiased and the error grows like the root). Only for problems with outputs in fp32 or fp64.
[[nodiscard]] bool sums_are_rough(const Problem& problem, double reduction_length);

// What is loaded of a kernel in the bench's process.
struct LoadedKernel {
  const GpuPlan& loaded;
  const verify::LoadedPlan& plan;
};

// Not thread-safe.
class ExactSums {
 public:
  // Draws the inputs, uploads them and runs the original. Nothing where that proves nothing: the
  // original's outputs are not exact, contents are the user's own, or there is no room.
  // `problem` and `process` must outlive it. Errors: of the process or the original's launch.
  [[nodiscard]] static Result<std::unique_ptr<ExactSums>, Failure> create(
      GpuProcess& process, const Problem& problem, const Symbols& symbols, LoadedKernel original,
      std::uint64_t seed, double timeout_seconds, const Cancellation& stop);

  // How a candidate's outputs differ from the original's, bit for bit, in words; empty when they do
  // not. Variables in constant memory hold these inputs afterwards.
  [[nodiscard]] Result<std::string, Failure> difference(LoadedKernel candidate, std::uint64_t seed,
                                                        double timeout_seconds,
                                                        const Cancellation& stop);

 private:
  ExactSums(GpuProcess& process, BenchMemory memory)
      : process_(&process), memory_(std::move(memory)) {}

  GpuProcess* process_;
  BenchMemory memory_;
  std::optional<BenchReference> reference_;
};

}  // namespace regraph::gpu
