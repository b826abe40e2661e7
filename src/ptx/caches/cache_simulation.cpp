#include "ptx/caches/cache_simulation.h"

#include "ptx/caches/access_trace.h"
#include "ptx/caches/cache_model.h"
#include "ptx/decode/slice.h"
#include "ptx/execute/block_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace regraph::ptx {
namespace {

constexpr int kQuantumShift = 6;
static_assert(1 << kQuantumShift == kQuantumInstructions);
constexpr double kSectorBytes = 32.0;
// A request may touch up to 32 lines; beyond this many line accesses a request on average, time is
// what limits the trace.
constexpr double kLineAccessesPerRequest = 6.0;
// Blocks run in full to learn what a whole block does.
constexpr std::uint64_t kSampledBlocks = 3;

// Requests between asking for a cache's place and using it.
constexpr std::size_t kPrefetchDistance = 6;

int sector_count(std::uint32_t sectors) {
  constexpr std::array<std::uint8_t, 16> kCounts = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};
  return kCounts[sectors & 15U];
}

// Where a sector comes from, the slowest last.
enum class Source : std::uint8_t { l1, shared_l2, l2, shared_dram, dram };

// What one SM has asked the L2 for in the current quantum: another request that wants the same may
// have to wait for it, though the cache has a place for it already.
class RecentFills {
 public:
  // From where the slowest of `hit` sectors of a line, found in L1, comes.
  [[nodiscard]] Source source(std::uint64_t line, std::uint32_t hit, std::uint32_t quantum) const {
    const Entry& entry = entries_[line % kEntries];
    if (entry.line != line || entry.quantum != quantum) return Source::l1;
    if ((entry.from_dram & hit) != 0) return Source::shared_dram;
    return (entry.from_l2 & hit) != 0 ? Source::shared_l2 : Source::l1;
  }
  void add(std::uint64_t line, std::uint32_t from_l2, std::uint32_t from_dram,
           std::uint32_t quantum) {
    Entry& entry = entries_[line % kEntries];
    if (entry.line != line || entry.quantum != quantum) entry = {line, quantum, 0, 0};
    entry.from_l2 = static_cast<std::uint8_t>(entry.from_l2 | from_l2);
    entry.from_dram = static_cast<std::uint8_t>(entry.from_dram | from_dram);
  }

 private:
  static constexpr std::size_t kEntries = 256;
  struct Entry {
    std::uint64_t line = ~std::uint64_t{0};
    std::uint32_t quantum = 0;
    std::uint8_t from_l2 = 0;  // sectors
    std::uint8_t from_dram = 0;
  };
  std::array<Entry, kEntries> entries_;
};

// Counts of one wave, of the part that was simulated.
struct WaveCounts {
  double requests = 0;
  double load_sectors = 0;
  double l1_hit_sectors = 0;
  double l2_read_sectors = 0;
  double l2_hit_sectors = 0;
  double l2_write_sectors = 0;
  double dram_read_sectors = 0;
  double dram_write_sectors = 0;
  double atomic_lone_sectors = 0;   // fetched for atomics
  double atomic_joint_sectors = 0;  // the same, with neighbours
};

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
        l2_(geometry.l2_bytes, geometry.l2_ways),
        l1_(static_cast<std::size_t>(geometry.sm_count),
            SectoredCache(geometry.l1_bytes, geometry.l1_ways)),
        recent_(static_cast<std::size_t>(geometry.sm_count)) {
    traffic_.loads.resize(slice.instructions.size());
    runner_.set_sink(&trace_);
    wave_blocks_ = static_cast<std::uint64_t>(geometry.sm_count) *
                   static_cast<std::uint64_t>(geometry.resident_blocks_per_sm);
  }

  Result<CacheTraffic> run() {
    if (const Status sampled = sample(); !sampled.ok()) return sampled.error();
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
      if (traffic_.truncated) {
        for (SectoredCache& l1 : l1_)
          l1.clear();
      }
      if (traffic_.truncated && footprint > static_cast<double>(geometry_.l2_bytes)) l2_.clear();
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
      if (const Status status = run_block(block); !status.ok()) return status;
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
      if (const Status status = run_block(first_block + i); !status.ok()) return status.error();
      trace_.sort_by_time(begins.back(), kQuantumShift);
    }
    begins.push_back(trace_.requests().size());
    traffic_.blocks_simulated += count;
    WaveCounts counts;
    counts.requests = static_cast<double>(trace_.totals().requests);
    replay(begins, counts);
    return counts;
  }

  // Block i of a wave runs on SM i modulo the number of SMs.
  void replay(const std::vector<std::size_t>& begins, WaveCounts& counts) {
    const std::vector<TracedRequest>& requests = trace_.requests();
    const std::size_t blocks = begins.size() - 1;
    const auto sms = static_cast<std::size_t>(geometry_.sm_count);
    std::vector<std::size_t> cursor(begins.begin(), begins.end() - 1);
    // Nothing that an earlier wave asked for is still on its way.
    for (RecentFills& recent : recent_)
      recent = RecentFills{};
    std::uint32_t quantum = 0;
    while (true) {
      std::uint32_t next = ~0U;
      for (std::size_t sm = 0; sm < std::min(sms, blocks); ++sm) {
        for (std::size_t block = sm; block < blocks; block += sms) {
          std::size_t& at = cursor[block];
          while (at < begins[block + 1] && (requests[at].time >> kQuantumShift) <= quantum) {
            if (at + kPrefetchDistance < begins[block + 1]) {
              l1_[sm].prefetch(requests[at + kPrefetchDistance].line);
              l2_.prefetch(requests[at + kPrefetchDistance].line);
            }
            replay_request(requests[at++], l1_[sm], recent_[sm], quantum, counts);
          }
          if (at < begins[block + 1]) next = std::min(next, requests[at].time >> kQuantumShift);
        }
      }
      if (next == ~0U) return;
      quantum = next;
    }
  }

  void replay_request(const TracedRequest& request, SectoredCache& l1, RecentFills& recent,
                      std::uint32_t quantum, WaveCounts& counts) {
    const AccessPattern& pattern = trace_.pattern(request.pattern);
    const AccessPattern::Line* lines = trace_.lines(pattern);
    Source source = Source::l1;
    for (std::uint32_t i = 0; i < pattern.line_count; ++i) {
      const std::uint64_t line = request.line + static_cast<std::uint64_t>(lines[i].delta);
      std::uint32_t wanted = lines[i].sectors;
      const auto total = static_cast<double>(sector_count(wanted));
      if (pattern.kind == AccessPattern::Kind::atomic) {
        const int fetched = sector_count(l2_.write(line, wanted));
        (total == 1 ? counts.atomic_lone_sectors : counts.atomic_joint_sectors) += fetched;
        continue;
      }
      if (pattern.kind == AccessPattern::Kind::store) {
        counts.l2_write_sectors += total;
        counts.dram_write_sectors += sector_count(l2_.write(line, wanted));
        continue;
      }
      counts.load_sectors += total;
      if (pattern.kind == AccessPattern::Kind::load) {
        const std::uint32_t hit = l1.read(line, wanted);
        counts.l1_hit_sectors += sector_count(hit);
        wanted &= ~hit;
        if (hit != 0) source = std::max(source, recent.source(line, hit, quantum));
        if (wanted == 0) continue;
      }
      const int asked = sector_count(wanted);
      const std::uint32_t in_l2 = l2_.read(line, wanted);
      const int hits = sector_count(in_l2);
      source = std::max(source, hits == asked ? Source::l2 : Source::dram);
      recent.add(line, in_l2, wanted & ~in_l2, quantum);
      counts.l2_read_sectors += asked;
      counts.l2_hit_sectors += hits;
      counts.dram_read_sectors += asked - hits;
    }
    if (pattern.kind != AccessPattern::Kind::load &&
        pattern.kind != AccessPattern::Kind::load_bypassing_l1) {
      return;
    }
    LoadService& service = traffic_.loads[pattern.instruction];
    switch (source) {
      case Source::l1:
        service.l1 += 1.0;
        break;
      case Source::shared_l2:
        service.shared_l2 += 1.0;
        break;
      case Source::l2:
        service.l2 += 1.0;
        break;
      case Source::shared_dram:
        service.shared_dram += 1.0;
        break;
      case Source::dram:
        service.dram += 1.0;
        break;
    }
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
  SectoredCache l2_;
  std::vector<SectoredCache> l1_;
  std::vector<RecentFills> recent_;  // of each SM
  BlockSample sample_;
  AtomicTraffic sample_atomics_;  // of the sampled blocks together
  double sample_blocks_ = 1;
  CacheTraffic traffic_;
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
