#include "ptx/caches/cache_simulation.h"

#include "ptx/caches/block_tracer.h"
#include "ptx/caches/cache_replay.h"
#include "ptx/caches/wave_tracer.h"
#include "ptx/decode/slice.h"
#include "ptx/memory/sectors.h"

#include <algorithm>
#include <cmath>

namespace regraph::ptx {
namespace {

// A request may touch up to 32 lines; beyond this many line accesses a request on average, time is
// what limits the trace.
constexpr double kLineAccessesPerRequest = 6.0;
// Blocks run in full to learn what a whole block does.
constexpr std::uint64_t kSampledBlocks = 3;
static_assert(1 << kQuantumShift == kQuantumInstructions);

// What one whole block does, on average over the sampled ones.
struct BlockSample {
  double requests = 0;
  double line_accesses = 0;
  double load_sectors = 0;
  double write_sectors = 0;
  double partial_write_sectors = 0;
  double written_sectors = 0;  // distinct
  double atomic_sectors = 0;   // distinct
  double instructions = 0;     // of the slice, warp level
  double duration = 0;         // instructions of the longest warp
};

class Simulation {
 public:
  Simulation(const SlicedLaunch& launch, const CacheGeometry& geometry,
             const CacheSimulationLimits& limits, ThreadBudget& threads)
      : geometry_(geometry),
        limits_(limits),
        threads_(threads),
        grid_blocks_(launch.arguments.grid.count()),
        wave_blocks_(static_cast<std::uint64_t>(geometry.sm_count) *
                     static_cast<std::uint64_t>(geometry.resident_blocks_per_sm)),
        tracer_(launch, threads),
        traffic_(nothing_yet(launch.slice.instructions.size())),
        replay_(geometry, traffic_.loads, threads) {}

  Result<CacheTraffic, TraceFailure> run() {
    if (auto sampled = sample(); !sampled) return std::move(sampled).error();
    const double fraction = choose_fraction();
    if (fraction < 1.0) {
      traffic_.truncated = true;
      tracer_.set_time_limit(
          std::max<std::int64_t>(1, static_cast<std::int64_t>(sample_.duration * fraction)));
    }
    traffic_.grid_blocks = grid_blocks_;
    const std::uint64_t first_blocks = std::min(wave_blocks_, grid_blocks_);
    const std::uint64_t second_blocks = std::min(wave_blocks_, grid_blocks_ - first_blocks);
    auto first = trace(0, first_blocks);
    if (!first) return std::move(first).error();
    Result<TracedWave, TraceFailure> second = TracedWave{};
    WaveCounts counts;
    threads_.for_each_index(2, [&](std::size_t part) {
      if (part == 1) {
        second = trace(first_blocks, second_blocks);
        return;
      }
      counts = replay_.replay(*first);
      tracer_.give_back(*std::move(first));
    });
    if (!second) return std::move(second).error();
    scale(counts, first_blocks);
    add(counts, 1.0);
    if (second_blocks > 0) {
      keep_in_caches(counts);
      WaveCounts later = replay_.replay(*second);
      tracer_.give_back(*std::move(second));
      scale(later, second_blocks);
      add(later,
          static_cast<double>(grid_blocks_ - first_blocks) / static_cast<double>(second_blocks));
    }
    add_atomics();
    return traffic_;
  }

 private:
  static CacheTraffic nothing_yet(std::size_t instructions) {
    CacheTraffic traffic;
    traffic.loads.resize(instructions);
    return traffic;
  }

  // First, middle and last block of the first wave.
  Result<void, TraceFailure> sample() {
    const std::uint64_t blocks = std::min(wave_blocks_, grid_blocks_);
    const std::uint64_t count = std::min(kSampledBlocks, blocks);
    std::unique_ptr<BlockTracer> tracer = tracer_.take();
    AccessTrace& trace = tracer->trace();
    trace.count_written_sectors(true);
    for (std::uint64_t i = 0; i < count; ++i) {
      trace.clear();
      const std::uint64_t block = count == 1 ? 0 : i * (blocks - 1) / (count - 1);
      if (auto run = tracer->run(block); !run) return run;
      const TraceTotals& totals = trace.totals();
      const double share = 1.0 / static_cast<double>(count);
      sample_.requests += share * static_cast<double>(totals.requests);
      sample_.line_accesses += share * static_cast<double>(totals.line_accesses);
      sample_.load_sectors += share * static_cast<double>(totals.load_sectors);
      sample_.write_sectors += share * static_cast<double>(totals.write_sectors);
      sample_.partial_write_sectors += share * static_cast<double>(totals.partial_write_sectors);
      sample_.written_sectors += share * static_cast<double>(trace.written_sectors());
      sample_.atomic_sectors += share * static_cast<double>(trace.atomic_sectors());
      sample_.instructions += share * static_cast<double>(tracer->executed());
      sample_.duration = std::max(sample_.duration, static_cast<double>(tracer->duration()));
    }
    trace.count_written_sectors(false);
    sample_atomics_ = trace.atomics().traffic();
    sample_blocks_ = static_cast<double>(count);
    trace.clear_atomics();
    tracer_.give_back(std::move(tracer));
    return {};
  }

  Result<TracedWave, TraceFailure> trace(std::uint64_t first_block, std::uint64_t count) {
    auto wave = tracer_.trace(first_block, count);
    if (wave) traffic_.blocks_simulated += count;
    return wave;
  }

  // A truncated wave leaves only its beginning in the caches; a whole one would have replaced it
  // wherever it reads more than the cache holds.
  void keep_in_caches(const WaveCounts& first) {
    if (!traffic_.truncated) return;
    const double footprint = (first.dram_read_sectors + first.dram_write_sectors) * kSectorBytes;
    replay_.clear_l1();
    if (footprint > static_cast<double>(geometry_.l2_bytes)) replay_.clear_l2();
  }

  // The part of every block that the limits allow, in time.
  [[nodiscard]] double choose_fraction() const {
    const auto blocks = static_cast<double>(std::min(wave_blocks_, grid_blocks_));
    const auto requests = static_cast<double>(limits_.requests_per_wave);
    double fraction = 1.0;
    const auto limit = [&](double amount, double allowed) {
      if (amount * blocks > allowed) fraction = std::min(fraction, allowed / (amount * blocks));
    };
    limit(sample_.requests, requests);
    limit(sample_.line_accesses, requests * kLineAccessesPerRequest);
    limit(sample_.instructions, static_cast<double>(limits_.instructions_per_wave));
    return fraction;
  }

  // Atomics of the whole grid, from the blocks that ran in full. Where there are any, one tracer
  // ran all blocks.
  void add_atomics() {
    const auto grid = static_cast<double>(grid_blocks_);
    const bool cut = traffic_.truncated;
    AtomicTraffic atomics = cut ? sample_atomics_ : tracer_.take()->trace().atomics().traffic();
    const double blocks = cut ? sample_blocks_ : static_cast<double>(traffic_.blocks_simulated);
    if (atomics.lanes <= 0.0) return;
    atomics.scale(grid / blocks);
    traffic_.atomics = atomics;
    // Two waves say little about counters that all waves share: every sector is fetched once, and
    // again as often as random accesses miss a cache that holds only part of the counters.
    const double sectors = atomics.footprint_bytes / kSectorBytes;
    const double missing =
        std::max(0.0, 1.0 - static_cast<double>(geometry_.l2_bytes) / atomics.footprint_bytes);
    const double most = sectors + missing * std::max(0.0, atomics.sector_operations - sectors);
    double& lone = traffic_.atomic_lone_dram_sectors;
    double& joint = traffic_.atomic_joint_dram_sectors;
    if (lone + joint > most) {
      const double kept = most / (lone + joint);
      lone *= kept;
      joint *= kept;
    }
    traffic_.dram_read_bytes += (lone + joint) * kSectorBytes;
    traffic_.dram_write_bytes += (lone + joint) * kSectorBytes;
  }

  // From the simulated part of a wave to the whole of it.
  void scale(WaveCounts& counts, std::uint64_t blocks) const {
    if (!traffic_.truncated) return;
    const auto all = static_cast<double>(blocks);
    const double loads =
        counts.load_sectors > 0 ? sample_.load_sectors * all / counts.load_sectors : 0.0;
    counts.load_sectors *= loads;
    counts.l1_hit_sectors *= loads;
    counts.l2_read_sectors *= loads;
    counts.l2_hit_sectors *= loads;
    counts.dram_read_sectors *= loads;
    // Most kernels store at their end, which the truncated part never reaches.
    counts.requests = sample_.requests * all;
    counts.l2_write_sectors = sample_.write_sectors * all;
    counts.l2_partial_write_sectors = sample_.partial_write_sectors * all;
    counts.dram_write_sectors = sample_.written_sectors * all;
    counts.atomic_lone_sectors = 0;
    counts.atomic_joint_sectors = sample_.atomic_sectors * all;
  }

  void add(const WaveCounts& counts, double waves) {
    traffic_.global_requests += waves * counts.requests;
    traffic_.l1_load_sectors += waves * counts.load_sectors;
    traffic_.l1_hit_sectors += waves * counts.l1_hit_sectors;
    traffic_.l2_read_bytes += waves * counts.l2_read_sectors * kSectorBytes;
    traffic_.l2_hit_bytes += waves * counts.l2_hit_sectors * kSectorBytes;
    traffic_.l2_write_bytes += waves * counts.l2_write_sectors * kSectorBytes;
    traffic_.l2_partial_write_bytes += waves * counts.l2_partial_write_sectors * kSectorBytes;
    traffic_.dram_read_bytes += waves * counts.dram_read_sectors * kSectorBytes;
    traffic_.dram_write_bytes += waves * counts.dram_write_sectors * kSectorBytes;
    traffic_.atomic_lone_dram_sectors += waves * counts.atomic_lone_sectors;
    traffic_.atomic_joint_dram_sectors += waves * counts.atomic_joint_sectors;
  }

  const CacheGeometry& geometry_;
  const CacheSimulationLimits& limits_;
  ThreadBudget& threads_;
  std::uint64_t grid_blocks_;
  std::uint64_t wave_blocks_;
  WaveTracer tracer_;
  CacheTraffic traffic_;
  CacheReplay replay_;  // counts into traffic_
  BlockSample sample_;
  AtomicTraffic sample_atomics_;  // of the sampled blocks together
  double sample_blocks_ = 1;
};

}  // namespace

Result<CacheTraffic> simulate_caches(const Program& program, const LaunchArguments& arguments,
                                     DeviceMemory& memory, const CacheGeometry& geometry,
                                     const CacheSimulationLimits& limits,
                                     const Cancellation& cancellation, ModuleMemory* variables,
                                     Fault* found) {
  if (geometry.sm_count < 1 || geometry.resident_blocks_per_sm < 1 || geometry.l1_ways < 1 ||
      geometry.l2_ways < 1 || limits.requests_per_wave == 0 || limits.instructions_per_wave == 0) {
    return fail(ErrorCode::invalid_argument, "a cache geometry or limit that is not positive");
  }
  RunOptions options;
  const Fault launch = check_launch(program.code(), arguments, options);
  if (launch.kind != FaultKind::none) return fail(ErrorCode::invalid_argument, launch.message);
  auto slice = address_slice(program.code());
  if (!slice.ok()) return slice.error();
  auto code = decode(program.code().module, program.code().function->name, *slice);
  if (!code.ok()) return code.error();
  auto launch_memory = make_launch_memory(**code, arguments, memory, variables);
  if (!launch_memory.ok()) return launch_memory.error();
  bool runs_atomics = false;
  for (std::size_t i = 0; i < slice->execute.size(); ++i) {
    runs_atomics = runs_atomics ||
                   (slice->execute[i] &&
                    (*code)->instructions[i].instruction_class == InstructionClass::atomic_global);
  }
  const SlicedLaunch sliced{
      **code, arguments, **launch_memory, cancellation, limits.instructions_per_wave, runs_atomics};
  ThreadBudget none;
  // Atomics happen, and are counted up to a limit, in the order of the blocks.
  const bool in_order = program.code().has_global_atomics || limits.threads == nullptr;
  auto traffic = Simulation(sliced, geometry, limits, in_order ? none : *limits.threads).run();
  if (traffic) return *std::move(traffic);
  TraceFailure failure = std::move(traffic).error();
  if (found != nullptr && failure.kernel_fault.kind != FaultKind::none)
    *found = std::move(failure.kernel_fault);
  return std::move(failure).error;
}

}  // namespace regraph::ptx
