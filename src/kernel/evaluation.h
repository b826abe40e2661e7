// What the evaluator found out about one candidate.
#pragma once

#include "base/hash.h"
#include "kernel/facts.h"

#include <cstdint>
#include <string>
#include <vector>

namespace regraph {

enum class Verdict : std::uint8_t {
  correct,
  compile_error,  // rejected by the CUDA compiler
  launch_error,   // cannot be launched: too many threads, registers or bytes
  wrong_result,   // an output differs from the original's
  out_of_bounds,  // touched memory outside its buffers
  misaligned_access,
  barrier_divergence,  // not all threads of a block reach a barrier
  data_race,
  nondeterministic,
  timeout,      // deadlock, endless loop or over the instruction budget
  crash,        // trap, assert, or the checker itself was killed
  suspicious,   // a guardrail fired
  unsupported,  // the verifier lacks an instruction or feature it names
  unverified,   // right at every test size, but does at a bench size what no comparison has seen
};
inline constexpr int kVerdictCount = static_cast<int>(Verdict::unverified) + 1;

// Returns the lower-case name, e.g. "wrong_result".
[[nodiscard]] const char* name(Verdict verdict);

enum class TimeMethod : std::uint8_t { predicted, measured };
[[nodiscard]] const char* name(TimeMethod method);

// Time is never one number. low <= median <= high; `samples` is 1 for predictions.
struct TimeEstimate {
  double median_seconds = 0.0;
  double low_seconds = 0.0;
  double high_seconds = 0.0;
  int samples = 0;
  TimeMethod method = TimeMethod::predicted;
};

// ptxas' report for the kernel.
struct ResourceUsage {
  int registers_per_thread = 0;
  int spill_store_bytes = 0;
  int spill_load_bytes = 0;
  int stack_bytes = 0;
  int static_shared_bytes = 0;
};

// The fact that counts branches of a correct kernel that no run took, whatever was tried, and that
// the original has none of: a reason not to reward it.
inline constexpr const char* kUntakenBranches = "untaken_branches";

// The fact that counts bench sizes at which a few blocks of a correct kernel alone were compared:
// there was no GPU, and the whole is too long to interpret.
inline constexpr const char* kSampledBenchSizes = "sampled_bench_sizes";

// The fact that a kernel reads shared memory through volatile: its lanes may rely on lockstep,
// which no test takes from them.
inline constexpr const char* kVolatileShared = "volatile_shared";

struct Evaluation {
  Verdict verdict = Verdict::unsupported;
  // Why not correct, in words a person or a language model can act on; of a correct one, behind
  // which branches that no run took it may be wrong.
  std::string message;
  TimeEstimate time;        // valid only when correct
  ResourceUsage resources;  // valid once compiled
  Facts facts;
  std::string bottleneck;  // what limits the time, in words, e.g. "L1 and shared-memory pipe"
  double roofline_seconds = 0.0;  // speed-of-light time for the bench sizes, 0 when unknown
  Hash128 machine_code;           // hash of the compiled kernel's text, {0,0} when not compiled
  [[nodiscard]] bool correct() const { return verdict == Verdict::correct; }
  // Correct, but for what lies behind branches that no run took.
  [[nodiscard]] bool has_untaken_branches() const {
    return correct() && facts.contains(kUntakenBranches);
  }
};

}  // namespace regraph
