// Whether a candidate does its work at the sizes that are timed. Results are compared at the test
// sizes only; a kernel that does less where nobody looks would be predicted to be fast.
#pragma once

#include "base/cancellation.h"
#include "eval/verify/loaded_plan.h"
#include "kernel/problem.h"

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace regraph {

// Bytes that the lanes of all launches of a plan load from and store to global memory (atomics
// both), estimated from blocks drawn at random over each grid.
struct GlobalWork {
  double read_bytes = 0.0;
  double written_bytes = 0.0;
};

// Errors as sample_blocks, and the fault of a block. `blocks` of each launch are run, fewer where a
// launch has fewer or they take too long.
[[nodiscard]] Result<GlobalWork> estimate_work(const Problem& problem,
                                               const verify::LoadedPlan& plan,
                                               const Symbols& symbols, int blocks,
                                               const Cancellation& cancellation);

// Compares with the original. Thread-safe; the original is looked at once a bench size, when a
// candidate first gives reason to.
class WorkWitness {
 public:
  // What is missing at some bench size, in words; nothing when the work is done, or when it cannot
  // be told (`original` empty, a fault, cancelled). A candidate must write 0.75 of the bytes of the
  // outputs and read a tenth of those of the inputs, or as much of it as the original does.
  [[nodiscard]] std::optional<std::string> missing(const Problem& problem,
                                                   const verify::LoadedPlan& original,
                                                   const verify::LoadedPlan& candidate,
                                                   const Cancellation& cancellation);

 private:
  std::mutex mutex_;
  std::map<std::size_t, std::optional<GlobalWork>> original_;  // by bench size
};

}  // namespace regraph
