#include "eval/gpu/timing/timing_bench.h"

#include "base/random.h"

#include <algorithm>
#include <chrono>

namespace regraph::gpu {
namespace {

// A kernel may take that many times as long as the original before it counts as endless.
constexpr double kTimeoutFactor = 20.0;
constexpr double kShortestTimeout = 2.0;
// Of the first launch, when nothing is known yet.
constexpr double kFirstTimeout = 60.0;
// Launches whose time one in double gets: consumer GPUs do a 64th of the arithmetic in it.
constexpr std::size_t kDoubleFactor = 4;

std::size_t index_of(RaceSide side) {
  return static_cast<std::size_t>(side);
}

}  // namespace

TimingBench::TimingBench(const Problem& problem, std::shared_ptr<const PreparedCandidate> original,
                         const TimingConfig& config)
    : problem_(problem),
      original_kernel_(std::move(original)),
      config_(config),
      sizes_(problem.bench.size()),
      tried_in_double_(problem.bench.size(), false),
      original_seconds_(problem.bench.size(), 0.0) {}

Result<void, Failure> TimingBench::start(const Cancellation& stop) {
  drop();
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  Result<std::unique_ptr<GpuProcess>> started = GpuProcess::start(config_.worker, stop);
  if (!started.ok()) {
    if (stop.requested()) return Failure{0, false, false, "cancelled"};
    return Failure{0, true, false, started.error().message};
  }
  process_ = std::move(*started);
  device_ = process_->device();
  ++processes_;
  Result<void, Failure> ready = furnish(stop);
  if (!ready.ok()) drop();
  furnishing_seconds_ += std::chrono::duration<double>(Clock::now() - begin).count();
  return ready;
}

void TimingBench::drop() {
  original_.reset();
  for (Size& size : sizes_) {
    size = Size();
  }
  process_.reset();
}

Result<void, Failure> TimingBench::furnish(const Cancellation& stop) {
  for (std::size_t b = 0; b < sizes_.size(); ++b) {
    Result<BenchMemory> memory = BenchMemory::create(*process_, problem_, problem_.bench[b],
                                                     random_bits(config_.seed, b), stop);
    if (!memory.ok()) return Failure{0, true, false, memory.error().message};
    sizes_[b].memory = std::move(*memory);
  }
  Result<ResidentKernel, Failure> loaded = load(original_kernel_, stop);
  if (!loaded.ok()) return loaded.error();
  original_ = std::move(*loaded);
  for (std::size_t b = 0; b < sizes_.size(); ++b) {
    verify::Arithmetic arithmetic = config_.arithmetic;
    arithmetic.reduction_length =
        reduction_length_at(problem_, problem_.bench[b], config_.test, arithmetic.reduction_length);
    Result<void, Failure> set = sizes_[b].memory->set_symbols_of(original_->loaded, stop);
    if (!set.ok()) return set.error();
    Result<BenchReference, Failure> reference = BenchReference::create(
        *process_, *sizes_[b].memory, problem_, original_->plans[b][index_of(RaceSide::incumbent)],
        arithmetic, random_bits(config_.seed, b, processes_), timeout(b, 1), stop);
    if (!reference.ok()) return reference.error();
    sizes_[b].reference = std::move(*reference);
    sizes_[b].rough =
        sums_are_rough(problem_, longest_reduction_at(problem_, problem_.bench[b], config_.test,
                                                      config_.arithmetic.reduction_length));
  }
  return {};
}

Result<ResidentKernel, Failure> TimingBench::load(
    const std::shared_ptr<const PreparedCandidate>& kernel, const Cancellation& stop) {
  ResidentKernel resident;
  resident.kernel = kernel;
  Result<GpuPlan, Failure> loaded =
      load_on_gpu(*process_, kernel->compiled, kernel->plan, problem_.bench, stop);
  if (!loaded.ok()) return loaded.error();
  resident.loaded = std::move(*loaded);
  resident.plans.resize(sizes_.size());
  for (std::size_t b = 0; b < sizes_.size(); ++b) {
    for (const RaceSide side : {RaceSide::candidate, RaceSide::incumbent}) {
      for (int set = 0; set < sizes_[b].memory->sets(); ++set) {
        Result<TimedPlan> plan =
            sizes_[b].memory->plan_of(resident.loaded, kernel->loaded, set, side);
        if (!plan.ok()) {
          unload(resident, stop);
          // What cannot be launched; a bad launch as CUDA would call it.
          return Failure{1, false, false, plan.error().message};
        }
        resident.plans[b][index_of(side)].push_back(std::move(*plan));
      }
    }
  }
  return resident;
}

void TimingBench::unload(const ResidentKernel& kernel, const Cancellation& stop) {
  if (usable()) (void)process_->free({{}, kernel.loaded.modules}, stop);
}

double TimingBench::timeout(std::size_t bench, std::size_t samples) const {
  const double original = original_seconds_[bench];
  const double one =
      original > 0.0 ? std::max(kShortestTimeout, kTimeoutFactor * original) : kFirstTimeout;
  return one + static_cast<double>(samples - 1) * std::max(1e-3, kTimeoutFactor * original);
}

Result<TimeResponse, Failure> TimingBench::sample(const SampleRequest& wanted,
                                                  const ResidentKernel& candidate,
                                                  const ResidentKernel* other,
                                                  const Cancellation& stop) {
  BenchMemory& memory = *sizes_[wanted.bench].memory;
  for (const ResidentKernel* resident : {&candidate, other}) {
    if (resident == nullptr) continue;
    Result<void, Failure> set = memory.set_symbols_of(resident->loaded, stop);
    if (!set.ok()) return set.error();
  }
  TimeRequest request;
  request.plans = candidate.plans[wanted.bench][index_of(RaceSide::candidate)];
  if (other != nullptr) {
    const auto& more = other->plans[wanted.bench][index_of(RaceSide::incumbent)];
    request.plans.insert(request.plans.end(), more.begin(), more.end());
  }
  const auto sets = static_cast<std::size_t>(memory.sets());
  std::size_t turn[2] = {static_cast<std::size_t>(batches_), static_cast<std::size_t>(batches_)};
  for (const RaceSide side : wanted.sides) {
    const std::size_t which = index_of(side);
    request.samples.push_back(static_cast<std::uint32_t>(which * sets + turn[which] % sets));
    // Another set would be a cold one.
    if (wanted.cold) ++turn[which];
  }
  request.cold = wanted.cold;
  request.as_graph = wanted.as_graph;
  request.poison_seed = random_bits(config_.seed, 17, ++batches_);
  request.timeout_seconds = timeout(wanted.bench, wanted.sides.size());
  Result<TimeResponse, Failure> response = process_->time(request, stop);
  if (!response.ok()) return response;
  if (response->seconds.size() != wanted.sides.size()) {
    return Failure{0, true, false, "the GPU worker: not as many samples as were asked for"};
  }
  // Zero ticks: shorter than the events can tell.
  for (double& seconds : response->seconds)
    seconds = std::max(seconds, kTimerUnitSeconds);
  if (response->clock_hertz > 0.0) clocks_.push_back(response->clock_hertz);
  ++blocks_;
  return response;
}

Result<verify::Buffers, Failure> TimingBench::outputs_of(std::size_t bench,
                                                         const ResidentKernel& candidate, int set,
                                                         std::uint64_t poison_seed,
                                                         const Cancellation& stop) {
  const TimedPlan& plan =
      candidate.plans[bench][index_of(RaceSide::candidate)][static_cast<std::size_t>(set)];
  return run_as_timed(*process_, *sizes_[bench].memory, plan, set, RaceSide::candidate, poison_seed,
                      timeout(bench, 1), stop);
}

Result<std::string, Failure> TimingBench::look(std::size_t bench, const ResidentKernel& candidate,
                                               const Cancellation& stop) {
  const BenchReference& reference = *sizes_[bench].reference;
  const std::uint64_t seed = random_bits(config_.seed, 23, ++batches_);
  const int set = static_cast<int>(seed % static_cast<std::uint64_t>(reference.sets()));
  Result<verify::Buffers, Failure> outputs = outputs_of(bench, candidate, set, seed, stop);
  if (!outputs.ok()) return outputs.error();
  std::string difference = reference.difference(*outputs, set, seed).value_or("");
  if (difference.empty()) return difference;
  return sizes_[bench].rough ? look_at_exact_sums(bench, candidate, difference, stop)
                             : look_in_double(bench, candidate, difference, stop);
}

Result<std::string, Failure> TimingBench::look_at_exact_sums(std::size_t bench,
                                                             const ResidentKernel& candidate,
                                                             const std::string& difference,
                                                             const Cancellation& stop) {
  Size& size = sizes_[bench];
  if (!size.asked_for_exact) {
    Result<std::unique_ptr<ExactSums>, Failure> made = ExactSums::create(
        *process_, problem_, problem_.bench[bench], {original_->loaded, original_->kernel->loaded},
        random_bits(config_.seed, 29, bench), timeout(bench, 1), stop);
    if (!made.ok()) return made.error();
    size.exact = std::move(*made);
    size.asked_for_exact = true;
  }
  if (!size.exact) return look_in_double(bench, candidate, difference, stop);
  ++exact_looks_;
  Result<std::string, Failure> exact =
      size.exact->difference({candidate.loaded, candidate.kernel->loaded},
                             random_bits(config_.seed, 31, ++batches_), timeout(bench, 1), stop);
  if (!exact.ok() || exact->empty()) return exact;
  return "on small integers, whose sums are exact, " + *exact;
}

Result<void, Failure> TimingBench::run_in_double(std::size_t bench, const Cancellation& stop) {
  if (!config_.make_double_shadow || tried_in_double_[bench]) return {};
  const Result<verify::DoubleShadow> shadow = config_.make_double_shadow(stop);
  if (stop.requested()) return Failure{0, false, false, "cancelled"};
  tried_in_double_[bench] = true;
  if (!shadow.ok()) return {};
  Size& size = sizes_[bench];
  // The inputs as `furnish` draws them.
  const DoubleReference::Seeds seeds{random_bits(config_.seed, bench),
                                     random_bits(config_.seed, 37, ++batches_)};
  Result<std::unique_ptr<DoubleReference>, Failure> made = DoubleReference::create(
      *process_, problem_, *shadow, *size.reference, seeds, timeout(bench, kDoubleFactor), stop);
  if (!made.ok()) return made.error();
  size.in_double = std::move(*made);
  tried_in_double_[bench] = size.in_double == nullptr;  // a later process wants it again
  return {};
}

Result<std::string, Failure> TimingBench::look_in_double(std::size_t bench,
                                                         const ResidentKernel& candidate,
                                                         const std::string& difference,
                                                         const Cancellation& stop) {
  Size& size = sizes_[bench];
  if (!size.in_double) {
    Result<void, Failure> ran = run_in_double(bench, stop);
    if (stop.requested()) return Failure{0, false, false, "cancelled"};
    // What the original does in double is not the candidate's fault.
    if (!ran.ok() || !size.in_double) return difference;
  }
  ++double_looks_;
  const std::uint64_t seed = random_bits(config_.seed, 41, ++batches_);
  Result<void, Failure> set = size.memory->set_symbols_of(candidate.loaded, stop);
  if (!set.ok()) return set.error();
  Result<verify::Buffers, Failure> outputs = outputs_of(bench, candidate, 0, seed, stop);
  if (!outputs.ok()) return outputs.error();
  std::string other = size.in_double->difference(*outputs, seed);
  return other.empty() ? other : "compared with the original in double precision, " + other;
}

}  // namespace regraph::gpu
