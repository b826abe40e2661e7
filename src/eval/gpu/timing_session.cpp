#include "eval/gpu/timing_session.h"

#include "base/random.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

namespace regraph::gpu {
namespace {

using Clock = std::chrono::steady_clock;

// A kernel may take that many times as long as the original before it counts as endless.
constexpr double kTimeoutFactor = 20.0;
constexpr double kShortestTimeout = 2.0;
// Of the first launch, when nothing is known yet.
constexpr double kFirstTimeout = 60.0;
// Below this a whole block of samples is submitted as one graph.
constexpr double kGraphBelowSeconds = 10e-6;
// A/A: trials of two interleaved halves, in blocks as the race has them, shorter for long kernels.
constexpr int kNoiseTrials = 6;
constexpr int kNoiseSamples = 50;
constexpr int kFewestNoiseSamples = 5;
constexpr double kNoiseSeconds = 0.3;  // of GPU time for all trials

Failure interrupted() {
  return {0, false, false, "cancelled"};
}

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

struct TimingSession::State {
  // A kernel in the memory of the present process.
  struct Resident {
    std::shared_ptr<const TimedKernel> kernel;
    GpuPlan loaded;
    // [bench][side][set]
    std::vector<std::array<std::vector<TimedPlan>, 2>> plans;
  };
  struct Bench {
    std::optional<BenchMemory> memory;
    std::optional<BenchReference> reference;
    std::optional<RaceIncumbent> incumbent;  // summary and noise; survives the process
    std::optional<RaceIncumbent> original;   // likewise
    double original_seconds = 0.0;           // median, 0 before it was timed
  };

  State(const Problem& given, std::shared_ptr<const TimedKernel> first, TimingConfig chosen)
      : problem(given), original_kernel(std::move(first)), config(std::move(chosen)) {
    benches.resize(problem.bench.size());
    incumbent_kernel = original_kernel;
  }

  const Problem& problem;
  const std::shared_ptr<const TimedKernel> original_kernel;
  const TimingConfig config;
  std::shared_ptr<const TimedKernel> incumbent_kernel;
  std::unique_ptr<GpuProcess> process;
  std::optional<DeviceProperties> device;
  std::vector<Bench> benches;
  std::optional<Resident> original;
  std::optional<Resident> incumbent;  // none while it is the original
  std::vector<double> clocks;
  int timed = 0;    // candidates in the present process
  int batches = 0;  // of samples, ever; numbers poison and rotates sets
  SessionHealth health;
  bool candidates_fault = false;

  // Brings process, memory, references, original and incumbent up, whatever of it is missing.
  Answer<Done> ensure(const Cancellation& stop) {
    candidates_fault = false;
    if (process && process->alive() && timed < config.candidates_per_process) return Done();
    drop();
    Result<std::unique_ptr<GpuProcess>> started = GpuProcess::start(config.worker, stop);
    if (!started.ok()) {
      if (stop.requested()) return interrupted();
      return Failure{0, true, false, started.error().message};
    }
    process = std::move(*started);
    device = process->device();
    ++health.processes;
    timed = 0;
    Answer<Done> ready = furnish(stop);
    if (!ready.ok()) drop();
    return ready;
  }

  void drop() {
    original.reset();
    incumbent.reset();
    for (Bench& bench : benches) {
      bench.memory.reset();
      bench.reference.reset();
    }
    process.reset();
  }

  Answer<Done> furnish(const Cancellation& stop) {
    for (std::size_t b = 0; b < benches.size(); ++b) {
      Result<BenchMemory> memory = BenchMemory::create(*process, problem, problem.bench[b],
                                                       random_bits(config.seed, b), stop);
      if (!memory.ok()) return Failure{0, true, false, memory.error().message};
      benches[b].memory = std::move(*memory);
    }
    Answer<Resident> loaded = load(original_kernel, stop);
    if (!loaded.ok()) return loaded.failure();
    original = std::move(*loaded);
    for (std::size_t b = 0; b < benches.size(); ++b) {
      verify::Arithmetic arithmetic = config.arithmetic;
      arithmetic.reduction_length =
          reduction_length_at(problem, problem.bench[b], config.test, arithmetic.reduction_length);
      Answer<BenchReference> reference = BenchReference::create(
          *process, *benches[b].memory, problem,
          original->plans[b][static_cast<std::size_t>(RaceSide::incumbent)], arithmetic,
          random_bits(config.seed, b, health.processes), timeout(b, 1), stop);
      if (!reference.ok()) return reference.failure();
      benches[b].reference = std::move(*reference);
    }
    if (incumbent_kernel != original_kernel) {
      Answer<Resident> again = load(incumbent_kernel, stop);
      if (!again.ok()) return again.failure();
      incumbent = std::move(*again);
    }
    return Done();
  }

  Answer<Resident> load(const std::shared_ptr<const TimedKernel>& kernel,
                        const Cancellation& stop) {
    Resident resident;
    resident.kernel = kernel;
    Answer<GpuPlan> loaded =
        load_on_gpu(*process, kernel->compiled, kernel->plan, problem.bench, stop);
    if (!loaded.ok()) return loaded.failure();
    resident.loaded = std::move(*loaded);
    resident.plans.resize(benches.size());
    for (std::size_t b = 0; b < benches.size(); ++b) {
      for (const RaceSide side : {RaceSide::candidate, RaceSide::incumbent}) {
        for (int set = 0; set < benches[b].memory->sets(); ++set) {
          Result<TimedPlan> plan =
              benches[b].memory->plan_of(resident.loaded, kernel->loaded, set, side);
          if (!plan.ok()) {
            unload(resident, stop);
            // What cannot be launched; a bad launch as CUDA would call it.
            return Failure{1, false, false, plan.error().message};
          }
          resident.plans[b][static_cast<std::size_t>(side)].push_back(std::move(*plan));
        }
      }
    }
    return resident;
  }

  void unload(const Resident& resident, const Cancellation& stop) {
    if (process && process->alive()) (void)process->free({{}, resident.loaded.modules}, stop);
  }

  double timeout(std::size_t bench, std::size_t samples) const {
    const double original_seconds = benches[bench].original_seconds;
    const double one = original_seconds > 0.0
                           ? std::max(kShortestTimeout, kTimeoutFactor * original_seconds)
                           : kFirstTimeout;
    return one +
           static_cast<double>(samples - 1) * std::max(1e-3, kTimeoutFactor * original_seconds);
  }

  const Resident& present_incumbent() const { return incumbent ? *incumbent : *original; }

  // Takes samples of two kernels as `sides` says; of one when `second` is null.
  Answer<TimeResponse> sample(std::size_t bench, const std::vector<RaceSide>& sides,
                              const Resident& first, const Resident* second, bool short_kernels,
                              const Cancellation& stop, bool cold = true) {
    BenchMemory& memory = *benches[bench].memory;
    for (const Resident* resident : {&first, second}) {
      if (resident == nullptr) continue;
      Answer<Done> set = memory.set_symbols_of(resident->loaded, stop);
      if (!set.ok()) return set.failure();
    }
    TimeRequest request;
    const auto sets = static_cast<std::size_t>(memory.sets());
    const auto& candidate = first.plans[bench][static_cast<std::size_t>(RaceSide::candidate)];
    request.plans = candidate;
    if (second != nullptr) {
      const auto& other = second->plans[bench][static_cast<std::size_t>(RaceSide::incumbent)];
      request.plans.insert(request.plans.end(), other.begin(), other.end());
    }
    std::size_t turn[2] = {static_cast<std::size_t>(batches), static_cast<std::size_t>(batches)};
    for (const RaceSide side : sides) {
      const auto which = static_cast<std::size_t>(side);
      request.samples.push_back(static_cast<std::uint32_t>(which * sets + turn[which] % sets));
      // Another set would be a cold one.
      if (cold) ++turn[which];
    }
    request.cold = cold;
    request.as_graph = short_kernels;
    request.poison_seed = random_bits(config.seed, 17, ++batches);
    request.timeout_seconds = timeout(bench, sides.size());
    Answer<TimeResponse> response = process->time(request, stop);
    if (!response.ok()) return response;
    if (response->seconds.size() != sides.size()) {
      return Failure{0, true, false, "the GPU worker: not as many samples as were asked for"};
    }
    if (response->clock_hertz > 0.0) clocks.push_back(response->clock_hertz);
    ++health.blocks;
    return response;
  }

  [[nodiscard]] double median_clock() const { return median(clocks); }

  // The races' samples of one bench size.
  Answer<RaceOutcome> run(Race& race, std::size_t bench, const Resident& candidate,
                          const Resident* against, const Cancellation& stop) {
    const Clock::time_point start = Clock::now();
    bool is_short = false;
    while (!race.finished()) {
      const RaceBlock& block = race.next();
      if (block.wait_seconds > 0.0)
        std::this_thread::sleep_for(std::chrono::duration<double>(block.wait_seconds));
      Answer<TimeResponse> taken = sample(bench, block.samples, candidate, against, is_short, stop);
      if (!taken.ok()) return taken.failure();
      if (block.warm_up) is_short = median(taken->seconds) < kGraphBelowSeconds;
      // Zero ticks: shorter than the events can tell.
      for (double& seconds : taken->seconds)
        seconds = std::max(seconds, kTimerUnitSeconds);
      const Status status = race.take({taken->seconds, taken->clock_hertz, seconds_since(start)});
      if (!status.ok()) return Failure{0, true, false, status.error().message};
    }
    const RaceOutcome outcome = race.outcome();
    health.discarded_blocks += outcome.discarded_blocks;
    return outcome;
  }

  // Times a kernel against itself.
  Answer<double> measure_noise(std::size_t bench, const Resident& resident, double seconds,
                               const Cancellation& stop) {
    const double affordable = kNoiseSeconds / (2.0 * kNoiseTrials * std::max(seconds, 1e-9));
    const int each =
        static_cast<int>(std::clamp<double>(affordable, kFewestNoiseSamples, kNoiseSamples));
    const int trials = seconds * 2.0 * kNoiseTrials * each > 4.0 * kNoiseSeconds ? 2 : kNoiseTrials;
    std::vector<double> first;
    std::vector<double> second;
    for (int trial = 0; trial < trials; ++trial) {
      std::vector<RaceSide> sides;
      for (int i = 0; i < 2 * each; ++i) {
        // A B B A
        const int place = i % 4;
        sides.push_back(place == 0 || place == 3 ? RaceSide::candidate : RaceSide::incumbent);
      }
      Answer<TimeResponse> taken =
          sample(bench, sides, resident, &resident, seconds < kGraphBelowSeconds, stop);
      if (!taken.ok()) return taken.failure();
      std::vector<double> halves[2];
      for (std::size_t i = 0; i < sides.size(); ++i)
        halves[static_cast<std::size_t>(sides[i])].push_back(
            std::max(taken->seconds[i], kTimerUnitSeconds));
      first.push_back(median(halves[0]));
      second.push_back(median(halves[1]));
    }
    return aa_noise(first, second);
  }

  // The kernel's launches as they were timed, looked at.
  Answer<std::string> look(std::size_t bench, const Resident& candidate, const Cancellation& stop) {
    const BenchReference& reference = *benches[bench].reference;
    const std::uint64_t seed = random_bits(config.seed, 23, ++batches);
    const int set = static_cast<int>(seed % static_cast<std::uint64_t>(reference.sets()));
    Answer<verify::Buffers> outputs =
        run_as_timed(*process, *benches[bench].memory,
                     candidate.plans[bench][static_cast<std::size_t>(RaceSide::candidate)]
                                    [static_cast<std::size_t>(set)],
                     set, RaceSide::candidate, seed, timeout(bench, 1), stop);
    if (!outputs.ok()) return outputs.failure();
    return reference.difference(*outputs, set, seed).value_or("");
  }

  Answer<TimingReport> race_all(const Resident& candidate, const Cancellation& stop) {
    TimingReport report;
    int fast = 0;
    int slow = 0;
    for (std::size_t b = 0; b < benches.size(); ++b) {
      Bench& bench = benches[b];
      const bool first = !bench.incumbent.has_value();
      Race race(bench.incumbent, median_clock(), config.race);
      Answer<RaceOutcome> outcome =
          run(race, b, candidate, first ? nullptr : &present_incumbent(), stop);
      if (!outcome.ok()) return outcome.failure();
      report.benches.push_back({*outcome, ""});
      if (first) {
        bench.original_seconds = outcome->candidate.median;
        Answer<double> noise = measure_noise(b, candidate, outcome->candidate.median, stop);
        if (!noise.ok()) return noise.failure();
        bench.incumbent = bench.original = RaceIncumbent{outcome->candidate, *noise};
        continue;
      }
      if (outcome->verdict) {
        fast += outcome->verdict->word == TimingWord::fast ? 1 : 0;
        slow += outcome->verdict->word == TimingWord::slow ? 1 : 0;
      }
      if (outcome->end == RaceEnd::dropped_at_first_look) continue;
      Answer<std::string> difference = look(b, candidate, stop);
      if (!difference.ok()) return difference.failure();
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
      const bool first = cold ? place == 0 || place == 3 : i < count / 2;
      sides.push_back(first != original_first ? RaceSide::candidate : RaceSide::incumbent);
    }
    return sides;
  }

  Answer<Pair> compare(std::size_t bench, const Resident& kernel, const Comparison& comparison,
                       const Cancellation& stop) {
    const bool alone = kernel.kernel == original_kernel;
    Pair pair;
    double taken_seconds = 0.0;
    // The first samples, of unknown length; thrown away as a warm-up.
    int block = 4;
    bool is_short = false;
    for (int round = 0;; ++round) {
      std::vector<RaceSide> sides = sides_of(block, comparison.cold, round % 2 == 1);
      if (alone) std::fill(sides.begin(), sides.end(), RaceSide::candidate);
      Answer<TimeResponse> taken = sample(bench, sides, kernel, alone ? nullptr : &*original,
                                          is_short, stop, comparison.cold);
      if (!taken.ok()) return taken.failure();
      std::vector<double> seconds[2];
      for (std::size_t i = 0; i < sides.size(); ++i)
        seconds[static_cast<std::size_t>(sides[i])].push_back(
            std::max(taken->seconds[i], kTimerUnitSeconds));
      if (round == 0) {
        const double pair_seconds = median(seconds[0]) + median(seconds[1]);
        is_short = median(seconds[0]) < kGraphBelowSeconds;
        const int affordable =
            static_cast<int>(std::min(comparison.gpu_seconds / std::max(pair_seconds, 1e-9), 1e6));
        block = 2 * std::clamp(affordable, 2, config.race.block_size);
        continue;
      }
      pair.kernel.insert(pair.kernel.end(), seconds[0].begin(), seconds[0].end());
      pair.original.insert(pair.original.end(), seconds[1].begin(), seconds[1].end());
      for (const double one : taken->seconds)
        taken_seconds += one;
      const int have = static_cast<int>(pair.kernel.size());
      if (have >= comparison.samples) return pair;
      if (have >= kFewestSamples && taken_seconds >= comparison.gpu_seconds) return pair;
    }
  }

  // The candidate becomes what others are raced against.
  Answer<Done> promote(Resident&& candidate, const TimingReport& report, const Cancellation& stop) {
    if (incumbent) unload(*incumbent, stop);
    incumbent_kernel = candidate.kernel;
    incumbent = std::move(candidate);
    for (std::size_t b = 0; b < benches.size(); ++b) {
      const TimingSummary& summary = report.benches[b].race.candidate;
      Answer<double> noise = measure_noise(b, *incumbent, summary.median, stop);
      if (!noise.ok()) return noise.failure();
      benches[b].incumbent = RaceIncumbent{summary, *noise};
    }
    return Done();
  }
};

TimingSession::TimingSession(const Problem& problem, std::shared_ptr<const TimedKernel> original,
                             TimingConfig config)
    : state_(std::make_unique<State>(problem, std::move(original), std::move(config))) {}
TimingSession::~TimingSession() = default;

Answer<TimingReport> TimingSession::race(const std::shared_ptr<const TimedKernel>& candidate,
                                         const Cancellation& stop) {
  State& state = *state_;
  Answer<Done> ready = state.ensure(stop);
  if (!ready.ok()) return ready.failure();
  ++state.timed;
  // From here on it is the candidate that breaks things.
  state.candidates_fault = true;
  if (candidate == state.original_kernel || candidate == state.incumbent_kernel) {
    return state.race_all(candidate == state.original_kernel ? *state.original : *state.incumbent,
                          stop);
  }
  Answer<State::Resident> resident = state.load(candidate, stop);
  if (!resident.ok()) return resident.failure();
  Answer<TimingReport> report = state.race_all(*resident, stop);
  if (!report.ok() || !report->faster) {
    state.unload(*resident, stop);
    return report;
  }
  Answer<Done> promoted = state.promote(std::move(*resident), *report, stop);
  if (!promoted.ok()) return promoted.failure();
  return report;
}

Answer<std::vector<TimingSession::Pair>> TimingSession::compare_with_original(
    const std::shared_ptr<const TimedKernel>& kernel, const Comparison& comparison,
    const Cancellation& stop) {
  State& state = *state_;
  Answer<Done> ready = state.ensure(stop);
  if (!ready.ok()) return ready.failure();
  state.candidates_fault = true;
  std::optional<State::Resident> own;
  const State::Resident* resident = nullptr;
  if (kernel == state.original_kernel) {
    resident = &*state.original;
  } else if (state.incumbent && kernel == state.incumbent_kernel) {
    resident = &*state.incumbent;
  } else {
    Answer<State::Resident> loaded = state.load(kernel, stop);
    if (!loaded.ok()) return loaded.failure();
    own = std::move(*loaded);
    resident = &*own;
  }
  std::vector<Pair> pairs;
  for (std::size_t b = 0; b < state.benches.size(); ++b) {
    Answer<Pair> pair = state.compare(b, *resident, comparison, stop);
    if (!pair.ok()) return pair.failure();
    Answer<std::string> difference = state.look(b, *resident, stop);
    if (!difference.ok()) return difference.failure();
    if (!difference->empty()) return Failure{0, false, false, "wrong result: " + *difference};
    pairs.push_back(std::move(*pair));
  }
  if (own) state.unload(*own, stop);
  return pairs;
}

void TimingSession::drop_incumbent() {
  State& state = *state_;
  if (state.incumbent) state.unload(*state.incumbent, Cancellation());
  state.incumbent.reset();
  state.incumbent_kernel = state.original_kernel;
  for (State::Bench& bench : state.benches)
    bench.incumbent = bench.original;
}

bool TimingSession::candidates_fault() const {
  return state_->candidates_fault;
}

SessionHealth TimingSession::health() const {
  SessionHealth health = state_->health;
  health.clock_hertz = state_->median_clock();
  for (const State::Bench& bench : state_->benches)
    health.noise.push_back(bench.incumbent ? bench.incumbent->noise : 0.0);
  return health;
}

const DeviceProperties* TimingSession::device() const {
  return state_->device ? &*state_->device : nullptr;
}

}  // namespace regraph::gpu
