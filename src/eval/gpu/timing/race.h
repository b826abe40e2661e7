// Which timing samples to take of a candidate, and when to stop: a race against the incumbent. A
// pure state machine: it launches nothing and reads no clock. Not thread-safe.
//
// Loop: while not finished(), take the samples of next() in order, back to back, and hand them to
// take(). Then outcome().
#pragma once

#include "base/result.h"
#include "eval/gpu/timing/timing_statistics.h"
#include "eval/gpu/timing/timing_verdict.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace regraph::gpu {

struct RaceConfig {
  int warm_ups = 3;
  int first_look = 10;   // candidate samples, then drop at drop_ratio
  int second_look = 50;  // in all, then drop above the incumbent's third quartile
  double drop_ratio = 1.30;
  int block_size = 20;       // samples between two looks at the clock
  int enough_samples = 200;  // of each side
  // No stop for precision before: A/A noise is measured on medians of so many samples.
  int fewest_samples = 50;
  double precise = 0.0025;  // relative standard error of both medians
  // Of the warm-up, of each look, of the interleaved phase; long kernels get fewer samples and
  // shorter blocks, but no look on fewer than fewest_look and no end of the interleaved phase below
  // fewest_long of each side.
  double phase_gpu_seconds = 0.15;
  int fewest_look = 3;
  int fewest_long = 10;
  double wall_seconds = 15.0;        // of the race; looked at between blocks
  double slow_clock = 0.95;          // of the session's median: the block is discarded
  double first_wait_seconds = 0.05;  // after a discarded block
  double wait_growth = 1.5;
  // Then, if the clock was the same in all of them, it is taken to be the kernel's.
  int most_discards_in_a_row = 5;
  double unstable_share = 0.20;  // of blocks discarded
};

enum class RaceSide : std::uint8_t { candidate, incumbent };

struct RaceBlock {
  std::vector<RaceSide> samples;  // in this order
  double wait_seconds = 0.0;      // sleep before: the GPU was too hot
  bool warm_up = false;           // times are ignored
};

struct RaceBlockResult {
  std::vector<double> seconds;    // one a sample, above 0
  double clock_hertz = 0.0;       // SM clock during the block, 0 when not measured
  double wall_since_start = 0.0;  // seconds since the race began
};

// What the race is run against.
struct RaceIncumbent {
  TimingSummary seconds;
  double noise = 0.0;  // aa_noise of the incumbent
};

enum class RaceEnd : std::uint8_t {
  running,
  dropped_at_first_look,   // slower than drop_ratio x the incumbent's median at best
  dropped_at_second_look,  // at best slower than three quarters of the incumbent's samples
  enough_samples,
  precise,
  gpu_time,
  wall_time,
  unstable_clock,  // too many discarded blocks in a row, at clocks that differ
};

// Returns e.g. "enough samples".
[[nodiscard]] const char* name(RaceEnd end);

struct RaceOutcome {
  RaceEnd end = RaceEnd::running;
  // Of the interleaved samples; of the looks when there are none.
  TimingSummary candidate;
  // Of the interleaved samples only; nothing when the race ended before, or had no incumbent.
  std::optional<TimingSummary> incumbent;
  // Nothing without an incumbent. Dropped candidates are judged against the incumbent's old
  // summary, and never FAST.
  std::optional<TimingVerdict> verdict;
  int samples = 0;           // taken and kept, both sides, without warm-ups
  int blocks = 0;            // without warm-ups
  int discarded_blocks = 0;  // because the clock was low
  bool thermally_unstable = false;
};

class Race {
 public:
  // `session_clock_hertz`: median SM clock of the session so far, 0 when not known; then the race's
  // own blocks decide. Without an incumbent the candidate alone is sampled until precise: the
  // baseline itself.
  explicit Race(std::optional<RaceIncumbent> incumbent, double session_clock_hertz = 0.0,
                RaceConfig config = {});

  [[nodiscard]] bool finished() const { return end_ != RaceEnd::running; }

  // The samples to take now; the same until take() is called. Empty when finished.
  [[nodiscard]] const RaceBlock& next() const { return next_; }

  // Takes in the samples of next(). Error: invalid_argument when their number differs, or one is
  // not finite and above 0; the race is then as before.
  Status take(const RaceBlockResult& result);

  [[nodiscard]] RaceOutcome outcome() const;

 private:
  enum class Phase : std::uint8_t { warm_up, first_look, second_look, interleaved };
  struct Samples {
    std::vector<double> seconds;
    std::vector<double> clock_hertz;
  };

  [[nodiscard]] bool clock_is_low(double clock_hertz) const;
  // Whether the discarded blocks in a row had one clock, which is the usual one from now on.
  bool takes_own_clock();
  void keep(const RaceBlockResult& result);
  void look(double wall_since_start);
  void look_at_interleaved();
  void enter(Phase phase);
  void plan_block();
  void finish(RaceEnd end);

  RaceConfig config_;
  std::optional<RaceIncumbent> incumbent_;
  double session_clock_hertz_;
  Phase phase_ = Phase::warm_up;
  RaceEnd end_ = RaceEnd::running;
  RaceBlock next_;
  Samples looks_;  // the candidate's, before interleaving
  Samples candidate_;
  Samples incumbent_samples_;
  std::vector<double> block_clocks_;  // of all blocks, discarded ones too
  double phase_gpu_seconds_ = 0.0;
  double longest_sample_ = 0.0;
  int blocks_ = 0;
  int discarded_ = 0;
  int discarded_in_a_row_ = 0;
  int interleaved_blocks_ = 0;
};

}  // namespace regraph::gpu
