// Times candidates against the incumbent on one GPU, at every bench size. Owns the worker process
// that times, and brings it back when a candidate has cost it its context.
#pragma once

#include "base/cancellation.h"
#include "eval/gpu/timing/race.h"
#include "eval/gpu/timing/timing_bench.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace regraph::gpu {

struct BenchTiming {
  RaceOutcome race;
  // Whether what timed launches left was compared with the original's: not for a kernel that was
  // dropped at the first look.
  bool compared = false;
  std::string difference;  // of the outputs of timed launches from the original's; empty: none
};

struct TimingReport {
  std::vector<BenchTiming> benches;  // one a bench size, in order; fewer after a difference
  bool faster = false;               // FAST at one size and SLOW at none: the new incumbent
};

// How trustworthy the session's times are.
struct SessionHealth {
  std::vector<double> noise;  // A/A, per bench size, of the present incumbent
  double clock_hertz = 0.0;   // median over all blocks
  int processes = 0;          // workers started
  int blocks = 0;
  int discarded_blocks = 0;         // because the clock was low
  double furnishing_seconds = 0.0;  // of timing processes: start, inputs, the original's outputs
  int exact_looks = 0;              // outputs that were judged on exact sums
  int double_looks = 0;             // and by the original in double precision
};

// Not thread-safe: a GPU times one kernel at a time.
class TimingSession {
 public:
  // `problem` must outlive the session. `original` is its launch plan's. Nothing is started yet.
  TimingSession(const Problem& problem, std::shared_ptr<const PreparedCandidate> original,
                TimingConfig config);
  ~TimingSession();

  // Times a kernel that is known to be sound at the test sizes against the incumbent, which it
  // replaces when faster. The first kernel to come is the original. A failure is the candidate's
  // (a fault, a time-out) when `candidates_fault` says so, else the machine's.
  [[nodiscard]] Result<TimingReport, Failure> race(
      const std::shared_ptr<const PreparedCandidate>& candidate, const Cancellation& stop);

  // The original is the incumbent again: what had replaced it turned out not to count.
  void drop_incumbent();

  // Samples of a kernel and as many of the original, interleaved, per bench size. Long kernels get
  // fewer than asked for. Of the original itself only `kernel` is filled.
  struct Comparison {
    int samples = 64;          // of each side
    double gpu_seconds = 0.5;  // a bench size, or what kFewestSamples take
    bool cold = true;          // false: the L2 holds what the kernel's last launch left there
  };
  static constexpr int kFewestSamples = 5;
  struct Pair {
    std::vector<double> kernel;  // seconds, in the order taken
    std::vector<double> original;
    std::string difference;  // of the kernel's outputs from the original's; empty: none
  };
  [[nodiscard]] Result<std::vector<Pair>, Failure> compare_with_original(
      const std::shared_ptr<const PreparedCandidate>& kernel, const Comparison& comparison,
      const Cancellation& stop);

  // Whether the last failure was met by the candidate's own launches.
  [[nodiscard]] bool candidates_fault() const;
  [[nodiscard]] SessionHealth health() const;
  [[nodiscard]] const DeviceProperties* device() const;  // null before the first process

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace regraph::gpu
