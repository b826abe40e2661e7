#include "ptx/caches/cache_simulation.h"

#include "ptx/caches/access_trace.h"
#include "ptx/caches/cache_replay.h"
#include "ptx/decode/slice.h"
#include "ptx/execute/block_runner.h"
#include "ptx/memory/sectors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace regraph::ptx {
namespace {

// A request may touch up to 32 lines; beyond this many line accesses a request on average, time is
// what limits the trace.
constexpr double kLineAccessesPerRequest = 6.0;
// Blocks run in full to learn what a whole block does.
constexpr std::uint64_t kSampledBlocks = 3;

// What one whole block does, on average over the sampled ones.
struct BlockSample {
  double requests = 0;
  double line_accesses = 0;
  double load_sectors = 0;
  double write_sectors = 0;
  double written_sectors = 0;  // distinct
  double atomic_sectors = 0;   // distinct
  double instructions = 0;     // of the slice, warp level
  double duration = 0;         // instructions of the longest warp
};

class Simulation {
 public:
  Simulation(const Program::Code& slice, const LaunchArguments& arguments,
             std::unique_ptr<LaunchMemory> launch_memory, const CacheGeometry& geometry,
             const CacheSimulationLimits& limits, const Cancellation& cancellation,
             bool runs_atomics, Fault* found)
      : runs_atomics_(runs_atomics),
        found_(found),
        geometry_(geometry),
        limits_(limits),
        cancellation_(cancellation),
        grid_blocks_(arguments.grid.count()),
        launch_memory_(std::move(launch_memory)),
        runner_(slice, arguments, *launch_memory_, run_options()),
        replay_(geometry, traffic_.loads) {
    traffic_.loads.resize(slice.instructions.size());
    runner_.set_sink(&trace_);
    wave_blocks_ = static_cast<std::uint64_t>(geometry.sm_count) *
                   static_cast<std::uint64_t>(geometry.resident_blocks_per_sm);
  }

  Result<CacheTraffic> run() {
    if (Status sampled = sample(); !sampled.ok()) return sampled.error();
    const double fraction = choose_fraction();
    if (fraction < 1.0) {
      traffic_.truncated = true;
      runner_.set_time_limit(
          std::max<std::int64_t>(1, static_cast<std::int64_t>(sample_.duration * fraction)));
    }
    traffic_.grid_blocks = grid_blocks_;
    const std::uint64_t first_blocks = std::min(wave_blocks_, grid_blocks_);
    auto first = simulate_wave(0, first_blocks);
    if (!first.ok()) return first.error();
    scale(*first, first_blocks);
    add(*first, 1.0);
    if (grid_blocks_ > first_blocks) {
      // A truncated wave leaves only its beginning in the cache; a whole one would have replaced it
      // wherever it reads more than the cache holds.
      const double footprint =
          (first->dram_read_sectors + first->dram_write_sectors) * kSectorBytes;
      if (traffic_.truncated) replay_.clear_l1();
      if (traffic_.truncated && footprint > static_cast<double>(geometry_.l2_bytes)) {
        replay_.clear_l2();
      }
      const std::uint64_t second_blocks = std::min(wave_blocks_, grid_blocks_ - first_blocks);
      auto second = simulate_wave(first_blocks, second_blocks);
      if (!second.ok()) return second.error();
      scale(*second, second_blocks);
      add(*second,
          static_cast<double>(grid_blocks_ - first_blocks) / static_cast<double>(second_blocks));
    }
    add_atomics();
    return traffic_;
  }

 private:
  static RunOptions run_options() {
    RunOptions options;
    options.count = false;
    options.exited_threads_arrive = true;
    return options;
  }

  Status run_block(std::uint64_t block) {
    runner_.run(block, limits_.instructions_per_wave, cancellation_);
    const Fault& fault = runner_.fault();
    if (fault.kind == FaultKind::none) return {};
    // Blocks that were sampled run again in their wave: what depends on atomics they already did,
    // such as a place in an output, may run out.
    const bool is_access = fault.kind == FaultKind::out_of_bounds ||
                           fault.kind == FaultKind::misaligned ||
                           fault.kind == FaultKind::write_to_read_only;
    if (is_access && !runs_atomics_ && found_ != nullptr) *found_ = fault;
    // Else the slice, which has only what addresses depend on, is no help: a wait for memory that
    // nobody writes in it never ends.
    ErrorCode code = ErrorCode::unsupported;
    if (fault.kind == FaultKind::cancelled) {
      code = ErrorCode::cancelled;
    } else if (fault.kind == FaultKind::instruction_budget && !runs_atomics_) {
      code = ErrorCode::resource;
    } else if (is_access && !runs_atomics_) {
      code = ErrorCode::invalid_argument;
    }
    return fail(code, fmt::format("{} (PTX line {}, block {},{},{})", fault.message, fault.ptx_line,
                                  fault.block.x, fault.block.y, fault.block.z));
  }

  // First, middle and last block of the first wave.
  Status sample() {
    const std::uint64_t blocks = std::min(wave_blocks_, grid_blocks_);
    const std::uint64_t count = std::min(kSampledBlocks, blocks);
    trace_.count_written_sectors(true);
    for (std::uint64_t i = 0; i < count; ++i) {
      trace_.clear();
      const std::uint64_t block = count == 1 ? 0 : i * (blocks - 1) / (count - 1);
      if (Status status = run_block(block); !status.ok()) return status;
      const TraceTotals& totals = trace_.totals();
      const double share = 1.0 / static_cast<double>(count);
      sample_.requests += share * static_cast<double>(totals.requests);
      sample_.line_accesses += share * static_cast<double>(totals.line_accesses);
      sample_.load_sectors += share * static_cast<double>(totals.load_sectors);
      sample_.write_sectors += share * static_cast<double>(totals.write_sectors);
      sample_.written_sectors += share * static_cast<double>(trace_.written_sectors());
      sample_.atomic_sectors += share * static_cast<double>(trace_.atomic_sectors());
      sample_.instructions += share * static_cast<double>(runner_.executed());
      sample_.duration = std::max(sample_.duration, static_cast<double>(runner_.duration()));
    }
    trace_.count_written_sectors(false);
    sample_atomics_ = trace_.atomics().traffic();
    sample_blocks_ = static_cast<double>(count);
    trace_.clear_atomics();
    return {};
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

  Result<WaveCounts> simulate_wave(std::uint64_t first_block, std::uint64_t count) {
    trace_.clear();
    std::vector<std::size_t> begins;
    begins.reserve(count + 1);
    for (std::uint64_t i = 0; i < count; ++i) {
      begins.push_back(trace_.requests().size());
      if (Status status = run_block(first_block + i); !status.ok()) return status.error();
      trace_.sort_by_time(begins.back(), kQuantumShift);
    }
    begins.push_back(trace_.requests().size());
    traffic_.blocks_simulated += count;
    WaveCounts counts;
    counts.requests = static_cast<double>(trace_.totals().requests);
    replay_.replay(trace_, begins, counts);
    return counts;
  }

  // Atomics of the whole grid, from the blocks that ran in full.
  void add_atomics() {
    const auto grid = static_cast<double>(grid_blocks_);
    const bool cut = traffic_.truncated;
    AtomicTraffic atomics = cut ? sample_atomics_ : trace_.atomics().traffic();
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
    traffic_.dram_read_bytes += waves * counts.dram_read_sectors * kSectorBytes;
    traffic_.dram_write_bytes += waves * counts.dram_write_sectors * kSectorBytes;
    traffic_.atomic_lone_dram_sectors += waves * counts.atomic_lone_sectors;
    traffic_.atomic_joint_dram_sectors += waves * counts.atomic_joint_sectors;
  }

  bool runs_atomics_;  // the slice has global atomics that also happen
  Fault* found_;       // may be null
  const CacheGeometry& geometry_;
  const CacheSimulationLimits& limits_;
  const Cancellation& cancellation_;
  std::uint64_t grid_blocks_;
  std::uint64_t wave_blocks_ = 1;
  std::unique_ptr<LaunchMemory> launch_memory_;
  AccessTrace trace_;
  BlockRunner runner_;
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
  return Simulation(**code, arguments, *std::move(launch_memory), geometry, limits, cancellation,
                    runs_atomics, found)
      .run();
}

}  // namespace regraph::ptx
