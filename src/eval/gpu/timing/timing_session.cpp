#include "eval/gpu/timing/timing_session.h"

#include "base/random.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

namespace regraph::gpu {
namespace {

using Clock = std::chrono::steady_clock;

// Below this a whole block of samples is submitted as one graph.
constexpr double kGraphBelowSeconds = 10e-6;
// A/A: trials of two interleaved halves, in blocks as the race has them, shorter for long kernels.
constexpr int kNoiseTrials = 6;
constexpr int kNoiseSamples = 50;
constexpr int kFewestNoiseSamples = 5;
constexpr double kNoiseSeconds = 0.3;  // of GPU time for all trials

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

struct TimingSession::State {
  struct Size {
    std::optional<RaceIncumbent> incumbent;  // summary and noise; survives the process
    std::optional<RaceIncumbent> original;   // likewise
  };

  State(const Problem& problem, std::shared_ptr<const PreparedCandidate> first, TimingConfig chosen)
      : original_kernel(std::move(first)),
        config(std::move(chosen)),
        bench(problem, original_kernel, config),
        incumbent_kernel(original_kernel),
        sizes(problem.bench.size()) {}

  const std::shared_ptr<const PreparedCandidate> original_kernel;
  const TimingConfig config;
  TimingBench bench;
  std::shared_ptr<const PreparedCandidate> incumbent_kernel;
  std::optional<ResidentKernel> incumbent;  // none while it is the original
  std::vector<Size> sizes;
  int timed = 0;  // candidates in the present process
  int discarded_blocks = 0;
  bool candidates_fault = false;

  // Brings process, original and incumbent up, whatever of it is missing.
  Result<void, Failure> ensure(const Cancellation& stop) {
    candidates_fault = false;
    if (bench.usable() && timed < config.candidates_per_process) return {};
    incumbent.reset();
    timed = 0;
    Result<void, Failure> started = bench.start(stop);
    if (!started.ok()) return started.error();
    if (incumbent_kernel == original_kernel) return {};
    Result<ResidentKernel, Failure> again = bench.load(incumbent_kernel, stop);
    if (!again.ok()) return again.error();
    incumbent = std::move(*again);
    return {};
  }

  const ResidentKernel& present_incumbent() const {
    return incumbent ? *incumbent : bench.original();
  }

  // The races' samples of one bench size.
  Result<RaceOutcome, Failure> run(Race& race, std::size_t size, const ResidentKernel& candidate,
                                   const ResidentKernel* against, const Cancellation& stop) {
    const Clock::time_point start = Clock::now();
    bool is_short = false;
    while (!race.finished()) {
      const RaceBlock& block = race.next();
      if (block.wait_seconds > 0.0)
        std::this_thread::sleep_for(std::chrono::duration<double>(block.wait_seconds));
      Result<TimeResponse, Failure> taken =
          bench.sample({size, block.samples, is_short}, candidate, against, stop);
      if (!taken.ok()) return taken.error();
      if (block.warm_up) is_short = median(taken->seconds) < kGraphBelowSeconds;
      const Status status = race.take({taken->seconds, taken->clock_hertz, seconds_since(start)});
      if (!status.ok()) return Failure{0, true, false, status.error().message};
    }
    const RaceOutcome outcome = race.outcome();
    discarded_blocks += outcome.discarded_blocks;
    return outcome;
  }

  // Times a kernel against itself.
  Result<double, Failure> measure_noise(std::size_t size, const ResidentKernel& resident,
                                        double seconds, const Cancellation& stop) {
    const double affordable = kNoiseSeconds / (2.0 * kNoiseTrials * std::max(seconds, 1e-9));
    const int each =
        static_cast<int>(std::clamp<double>(affordable, kFewestNoiseSamples, kNoiseSamples));
    const int trials = seconds * 2.0 * kNoiseTrials * each > 4.0 * kNoiseSeconds ? 2 : kNoiseTrials;
    std::vector<double> first;
    std::vector<double> second;
    for (int trial = 0; trial < trials; ++trial) {
      Result<TimeResponse, Failure> taken =
          bench.sample({size, sides_of(2 * each, true, false), seconds < kGraphBelowSeconds},
                       resident, &resident, stop);
      if (!taken.ok()) return taken.error();
      const Pair halves = by_side(taken->seconds, sides_of(2 * each, true, false));
      first.push_back(median(halves.kernel));
      second.push_back(median(halves.original));
    }
    return aa_noise(first, second);
  }

  Result<TimingReport, Failure> race_all(const ResidentKernel& candidate,
                                         const Cancellation& stop) {
    TimingReport report;
    int fast = 0;
    int slow = 0;
    for (std::size_t b = 0; b < sizes.size(); ++b) {
      Size& size = sizes[b];
      const bool first = !size.incumbent.has_value();
      Race race(size.incumbent, bench.median_clock(), config.race);
      Result<RaceOutcome, Failure> outcome =
          run(race, b, candidate, first ? nullptr : &present_incumbent(), stop);
      if (!outcome.ok()) return outcome.error();
      report.benches.push_back({*outcome, false, ""});
      if (first) {
        bench.set_original_seconds(b, outcome->candidate.median);
        Result<double, Failure> noise =
            measure_noise(b, candidate, outcome->candidate.median, stop);
        if (!noise.ok()) return noise.error();
        size.incumbent = size.original = RaceIncumbent{outcome->candidate, *noise};
        continue;
      }
      if (outcome->verdict) {
        fast += outcome->verdict->word == SpeedVerdict::fast ? 1 : 0;
        slow += outcome->verdict->word == SpeedVerdict::slow ? 1 : 0;
      }
      if (outcome->end == RaceEnd::dropped_at_first_look) continue;
      Result<std::string, Failure> difference = bench.look(b, candidate, stop);
      if (!difference.ok()) return difference.error();
      report.benches.back().compared = true;
      report.benches.back().difference = *difference;
      if (!difference->empty()) return report;
    }
    report.faster = fast > 0 && slow == 0;
    return report;
  }

  // Sides of `count` samples: A B B A while cold; one side after the other while hot, so that each
  // finds in the L2 what it left there itself.
  static std::vector<RaceSide> sides_of(int count, bool cold, bool original_first) {
    std::vector<RaceSide> sides;
    for (int i = 0; i < count; ++i) {
      const int place = i % 4;
      const bool first = cold ? place == 0 || place == 3 : 2 * i < count;
      sides.push_back(first != original_first ? RaceSide::candidate : RaceSide::incumbent);
    }
    return sides;
  }

  static Pair by_side(const std::vector<double>& seconds, const std::vector<RaceSide>& sides) {
    Pair pair;
    for (std::size_t i = 0; i < sides.size(); ++i)
      (sides[i] == RaceSide::candidate ? pair.kernel : pair.original).push_back(seconds[i]);
    return pair;
  }

  Result<Pair, Failure> compare(std::size_t size, const ResidentKernel& kernel,
                                const Comparison& comparison, const Cancellation& stop) {
    const bool alone = kernel.kernel == original_kernel;
    Pair pair;
    double taken_seconds = 0.0;
    // The first pair, of unknown length; thrown away as a warm-up.
    int block = 2;
    bool is_short = false;
    for (int round = 0;; ++round) {
      std::vector<RaceSide> sides = sides_of(block, comparison.cold, round % 2 == 1);
      if (alone) std::fill(sides.begin(), sides.end(), RaceSide::candidate);
      Result<TimeResponse, Failure> taken =
          bench.sample({size, sides, is_short, comparison.cold}, kernel,
                       alone ? nullptr : &bench.original(), stop);
      if (!taken.ok()) return taken.error();
      const Pair more = by_side(taken->seconds, sides);
      if (round == 0) {
        const double pair_seconds = median(more.kernel) + median(more.original);
        is_short = median(more.kernel) < kGraphBelowSeconds;
        const int affordable =
            static_cast<int>(std::min(comparison.gpu_seconds / std::max(pair_seconds, 1e-9), 1e6));
        block = 2 * std::clamp(affordable, 2, config.race.block_size);
        continue;
      }
      pair.kernel.insert(pair.kernel.end(), more.kernel.begin(), more.kernel.end());
      pair.original.insert(pair.original.end(), more.original.begin(), more.original.end());
      for (const double one : taken->seconds)
        taken_seconds += one;
      const int have = static_cast<int>(pair.kernel.size());
      if (have >= comparison.samples) return pair;
      if (have >= kFewestSamples && taken_seconds >= comparison.gpu_seconds) return pair;
    }
  }

  // The candidate becomes what others are raced against.
  Result<void, Failure> promote(ResidentKernel&& candidate, const TimingReport& report,
                                const Cancellation& stop) {
    if (incumbent) bench.unload(*incumbent, stop);
    incumbent_kernel = candidate.kernel;
    incumbent = std::move(candidate);
    for (std::size_t b = 0; b < sizes.size(); ++b) {
      const TimingSummary& summary = report.benches[b].race.candidate;
      Result<double, Failure> noise = measure_noise(b, *incumbent, summary.median, stop);
      if (!noise.ok()) return noise.error();
      sizes[b].incumbent = RaceIncumbent{summary, *noise};
    }
    return {};
  }
};

TimingSession::TimingSession(const Problem& problem,
                             std::shared_ptr<const PreparedCandidate> original, TimingConfig config)
    : state_(std::make_unique<State>(problem, std::move(original), std::move(config))) {}
TimingSession::~TimingSession() = default;

Result<TimingReport, Failure> TimingSession::race(
    const std::shared_ptr<const PreparedCandidate>& candidate, const Cancellation& stop) {
  State& state = *state_;
  Result<void, Failure> ready = state.ensure(stop);
  if (!ready.ok()) return ready.error();
  ++state.timed;
  // From here on it is the candidate that breaks things.
  state.candidates_fault = true;
  if (candidate == state.original_kernel) return state.race_all(state.bench.original(), stop);
  if (candidate == state.incumbent_kernel) return state.race_all(*state.incumbent, stop);
  Result<ResidentKernel, Failure> resident = state.bench.load(candidate, stop);
  if (!resident.ok()) return resident.error();
  Result<TimingReport, Failure> report = state.race_all(*resident, stop);
  if (!report.ok() || !report->faster) {
    state.bench.unload(*resident, stop);
    return report;
  }
  Result<void, Failure> promoted = state.promote(std::move(*resident), *report, stop);
  if (!promoted.ok()) return promoted.error();
  return report;
}

Result<std::vector<TimingSession::Pair>, Failure> TimingSession::compare_with_original(
    const std::shared_ptr<const PreparedCandidate>& kernel, const Comparison& comparison,
    const Cancellation& stop) {
  State& state = *state_;
  Result<void, Failure> ready = state.ensure(stop);
  if (!ready.ok()) return ready.error();
  state.candidates_fault = true;
  std::optional<ResidentKernel> own;
  const ResidentKernel* resident = nullptr;
  if (kernel == state.original_kernel) {
    resident = &state.bench.original();
  } else if (state.incumbent && kernel == state.incumbent_kernel) {
    resident = &*state.incumbent;
  } else {
    Result<ResidentKernel, Failure> loaded = state.bench.load(kernel, stop);
    if (!loaded.ok()) return loaded.error();
    own = std::move(*loaded);
    resident = &*own;
  }
  std::vector<Pair> pairs;
  for (std::size_t b = 0; b < state.sizes.size(); ++b) {
    Result<Pair, Failure> pair = state.compare(b, *resident, comparison, stop);
    if (!pair.ok()) return pair.error();
    Result<std::string, Failure> difference = state.bench.look(b, *resident, stop);
    if (!difference.ok()) return difference.error();
    pair->difference = std::move(*difference);
    pairs.push_back(std::move(*pair));
  }
  if (own) state.bench.unload(*own, stop);
  return pairs;
}

void TimingSession::drop_incumbent() {
  State& state = *state_;
  if (state.incumbent) state.bench.unload(*state.incumbent, Cancellation());
  state.incumbent.reset();
  state.incumbent_kernel = state.original_kernel;
  for (State::Size& size : state.sizes)
    size.incumbent = size.original;
}

bool TimingSession::candidates_fault() const {
  return state_->candidates_fault;
}

SessionHealth TimingSession::health() const {
  SessionHealth health;
  health.clock_hertz = state_->bench.median_clock();
  health.processes = state_->bench.processes();
  health.blocks = state_->bench.blocks();
  health.furnishing_seconds = state_->bench.furnishing_seconds();
  health.exact_looks = state_->bench.exact_looks();
  health.double_looks = state_->bench.double_looks();
  health.discarded_blocks = state_->discarded_blocks;
  for (const State::Size& size : state_->sizes)
    health.noise.push_back(size.incumbent ? size.incumbent->noise : 0.0);
  return health;
}

const DeviceProperties* TimingSession::device() const {
  return state_->bench.device();
}

}  // namespace regraph::gpu
