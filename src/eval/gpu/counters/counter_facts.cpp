#include "eval/gpu/counters/counter_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace regraph::gpu {
namespace {

constexpr double kSectorBytes = 32.0;
constexpr double kWarpLanes = 32.0;
constexpr double kSchedulersPerSm = 4.0;  // Volta and later

// Reads less than compulsory by this much are within what survives in the caches and rounds away.
constexpr double kReadShare = 0.9;
// Sector counts are exact; the margin is for outputs that end within a sector.
constexpr double kWriteShare = 0.99;
// Hardly a rewrite of the same algorithm saves so many instructions: 16-byte accesses save a factor
// of four, coarsening most of the index arithmetic. A tree for every block of a sum is the
// exception: what there is to do decides where that is known.
constexpr double kInstructionShare = 1.0 / 20.0;
// At most, by one instruction of a warp: 16 bytes a lane, a fused multiply-add each.
constexpr double kBytesPerInstruction = 16.0 * kWarpLanes;
constexpr double kFlopsPerInstruction = 2.0 * kWarpLanes;

std::optional<double> find(const CounterValues& counters, std::string_view name) {
  const auto found = counters.find(name);
  if (found == counters.end() || !std::isfinite(found->second) || found->second < 0.0)
    return std::nullopt;
  return found->second;
}

class Translator {
 public:
  Translator(const CounterValues& counters, Facts& facts) : counters_(counters), facts_(facts) {}

  [[nodiscard]] std::optional<double> value(std::string_view name) const {
    return find(counters_, name);
  }

  void set(const char* fact, std::optional<double> value) {
    if (value && std::isfinite(*value)) facts_[fact] = *value;
  }

  void ratio(const char* fact, std::optional<double> above, std::optional<double> below) {
    if (above && below && *below > 0.0) set(fact, *above / *below);
  }

  // A percentage as a fraction, times `scale`; multiplexed counters may overshoot.
  void percentage(const char* fact, std::string_view name, double scale = 1.0) {
    if (const auto percent = value(name)) set(fact, std::min(1.0, scale * *percent / 100.0));
  }

 private:
  const CounterValues& counters_;
  Facts& facts_;
};

constexpr std::array<std::pair<const char*, std::string_view>, 10> kStalls = {{
    {"long_scoreboard_stall_share", "smsp__warps_issue_stalled_long_scoreboard.avg"},
    {"short_scoreboard_stall_share", "smsp__warps_issue_stalled_short_scoreboard.avg"},
    {"barrier_stall_share", "smsp__warps_issue_stalled_barrier.avg"},
    {"math_pipe_stall_share", "smsp__warps_issue_stalled_math_pipe_throttle.avg"},
    {"load_store_queue_stall_share", "smsp__warps_issue_stalled_lg_throttle.avg"},
    {"memory_input_output_queue_stall_share", "smsp__warps_issue_stalled_mio_throttle.avg"},
    {"fixed_latency_stall_share", "smsp__warps_issue_stalled_wait.avg"},
    {"not_selected_stall_share", "smsp__warps_issue_stalled_not_selected.avg"},
    {"branch_stall_share", "smsp__warps_issue_stalled_branch_resolving.avg"},
    {"instruction_fetch_stall_share", "smsp__warps_issue_stalled_no_instruction.avg"},
}};

void fill_memory(Translator& t, const CounterContext& context) {
  const auto read = t.value("dram__bytes_read.sum");
  const auto written = t.value("dram__bytes_write.sum");
  t.set("dram_read_bytes", read);
  t.set("dram_written_bytes", written);
  if (read && written && context.compulsory_bytes > 0.0)
    t.set("dram_bytes_over_compulsory", (*read + *written) / context.compulsory_bytes);
  const auto nanoseconds = t.value("gpu__time_duration.sum");
  if (read && written && nanoseconds && *nanoseconds > 0.0 &&
      context.achievable_dram_bytes_per_second > 0.0) {
    const double rate = (*read + *written) / (1e-9 * *nanoseconds);
    t.set("dram_utilization", std::min(1.0, rate / context.achievable_dram_bytes_per_second));
  } else {
    t.percentage("dram_utilization", "dram__throughput.avg.pct_of_peak_sustained_elapsed");
  }
  t.percentage("l2_utilization", "lts__t_sectors.avg.pct_of_peak_sustained_elapsed");
  t.ratio("l2_hit_rate", t.value("lts__t_sectors_op_read_lookup_hit.sum"),
          t.value("lts__t_sectors_op_read.sum"));
  t.percentage("l1_hit_rate", "l1tex__t_sector_hit_rate.pct");
  t.ratio("global_load_sectors_per_request",
          t.value("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"),
          t.value("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"));
  t.ratio("global_store_sectors_per_request",
          t.value("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"),
          t.value("l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"));
  t.ratio("shared_conflict_share", t.value("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"),
          t.value("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"));
  const auto wavefronts = t.value("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum");
  const auto conflicts = t.value("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum");
  if (wavefronts && conflicts)
    t.ratio("shared_wavefronts_over_ideal", *wavefronts, *wavefronts - *conflicts);
}

void fill_pipes(Translator& t, double active_share) {
  const auto pipe = [&](const char* fact, std::string_view name) {
    t.percentage(fact, name, active_share);
  };
  pipe("issue_utilization", "smsp__issue_active.avg.pct_of_peak_sustained_active");
  pipe("fma_utilization", "sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active");
  pipe("alu_utilization", "sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active");
  pipe("fp64_utilization", "sm__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_active");
  pipe("special_function_utilization",
       "sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active");
  pipe("tensor_utilization", "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active");
  // Instructions and data of the load/store pipe are limits of their own.
  const auto instructions = t.value("sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active");
  const auto data = t.value("l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_active");
  if (instructions || data) {
    const double busier = std::max(instructions.value_or(0.0), data.value_or(0.0));
    t.set("lsu_utilization", std::min(1.0, active_share * busier / 100.0));
  }
}

void fill_warps(Translator& t, const CounterContext& context) {
  constexpr std::string_view kOccupancy = "sm__warps_active.avg.pct_of_peak_sustained_active";
  t.percentage("achieved_occupancy", kOccupancy);
  t.set("warp_instructions", t.value("smsp__inst_executed.sum"));
  if (const auto lanes = t.value("smsp__average_thread_inst_executed_per_inst_executed.ratio"))
    t.set("thread_efficiency", std::min(1.0, *lanes / kWarpLanes));
  const auto occupancy = t.value(kOccupancy);
  const auto cycles = t.value("sm__cycles_active.avg");
  if (!occupancy || !cycles) return;
  // Of one scheduler: its warps in flight, summed over the cycles in which its SM was busy.
  const double warp_cycles =
      *occupancy / 100.0 * context.max_warps_per_sm / kSchedulersPerSm * *cycles;
  for (const auto& [fact, metric] : kStalls) {
    const auto stalled = t.value(metric);
    if (stalled && warp_cycles > 0.0) t.set(fact, std::min(1.0, *stalled / warp_cycles));
  }
}

std::optional<double> find(const Facts& facts, const char* name) {
  const auto found = facts.find(name);
  if (found == facts.end()) return std::nullopt;
  return found->second;
}

constexpr std::array<std::pair<const char*, const char*>, 9> kUnits = {{
    {"dram_utilization", "DRAM bandwidth"},
    {"l2_utilization", "L2 bandwidth"},
    {"lsu_utilization", "load/store path (L1 and shared memory)"},
    {"fma_utilization", "FP32 arithmetic"},
    {"alu_utilization", "integer arithmetic"},
    {"fp64_utilization", "FP64 arithmetic"},
    {"special_function_utilization", "special functions"},
    {"tensor_utilization", "tensor cores"},
    {"issue_utilization", "instruction issue"},
}};

// Being ready without being chosen is no stall that a rewrite could remove.
constexpr std::array<std::pair<const char*, const char*>, 9> kWaits = {{
    {"long_scoreboard_stall_share", "global memory"},
    {"short_scoreboard_stall_share", "shared memory and special functions"},
    {"barrier_stall_share", "barriers"},
    {"math_pipe_stall_share", "arithmetic pipes"},
    {"load_store_queue_stall_share", "the queue to global memory"},
    {"memory_input_output_queue_stall_share", "the queue to shared memory"},
    {"fixed_latency_stall_share", "earlier instructions"},
    {"branch_stall_share", "branches"},
    {"instruction_fetch_stall_share", "instructions"},
}};

template <typename Table>
std::pair<double, const char*> largest(const Facts& facts, const Table& table) {
  std::pair<double, const char*> best = {0.0, nullptr};
  for (const auto& [fact, words] : table) {
    const auto value = find(facts, fact);
    if (value && (best.second == nullptr || *value > best.first)) best = {*value, words};
  }
  return best;
}

}  // namespace

Facts counter_facts(const CounterValues& counters, const CounterContext& context) {
  Facts facts;
  Translator t(counters, facts);
  t.ratio("sm_active_share", t.value("sm__cycles_active.avg"), t.value("sm__cycles_elapsed.max"));
  double active_share = 1.0;
  if (const auto found = facts.find("sm_active_share"); found != facts.end()) {
    found->second = std::min(1.0, found->second);
    active_share = found->second;
  }
  fill_memory(t, context);
  fill_pipes(t, active_share);
  fill_warps(t, context);
  return facts;
}

std::string counter_bottleneck(const Facts& facts) {
  const auto [busiest, unit] = largest(facts, kUnits);
  if (unit == nullptr) return "";
  if (busiest >= kBusyUnit) return unit;
  const auto active = find(facts, "sm_active_share");
  if (active && *active < kBusyUnit)
    return "idle SMs (too few blocks, or blocks of unequal length)";
  const auto [share, wait] = largest(facts, kWaits);
  if (wait == nullptr || share <= 0.0) return "exposed latency";
  return fmt::format("exposed latency (waiting for {})", wait);
}

double required_input_bytes(double input_bytes, double output_bytes,
                            std::optional<double> moved_bytes) {
  if (!moved_bytes) return input_bytes;
  return std::clamp(*moved_bytes - output_bytes, 0.0, input_bytes);
}

std::vector<std::string> missing_work(const CounterValues& candidate, const CounterValues& original,
                                      const RequiredWork& required) {
  std::vector<std::string> found;
  constexpr std::string_view kRead = "dram__bytes_read.sum";
  if (const auto read = find(candidate, kRead)) {
    // An original that gets by with less shows that less is compulsory than was thought.
    const double least =
        std::min(required.input_bytes, find(original, kRead).value_or(required.input_bytes));
    if (*read < kReadShare * least) {
      found.push_back(
          fmt::format("reads {:.4g} MB from DRAM on cold caches, but its inputs take {:.4g} MB",
                      1e-6 * *read, 1e-6 * least));
    }
  }
  const auto written_by = [](const CounterValues& counters) -> std::optional<double> {
    const auto stores = find(counters, "lts__t_sectors_op_write.sum");
    if (!stores) return std::nullopt;
    return kSectorBytes * (*stores + find(counters, "lts__t_sectors_op_red.sum").value_or(0.0) +
                           find(counters, "lts__t_sectors_op_atom.sum").value_or(0.0));
  };
  if (const auto written = written_by(candidate)) {
    const double least =
        std::min(required.output_bytes, written_by(original).value_or(required.output_bytes));
    if (*written < kWriteShare * least) {
      found.push_back(fmt::format("writes {:.4g} MB to the L2, but its outputs take {:.4g} MB",
                                  1e-6 * *written, 1e-6 * least));
    }
  }
  constexpr std::string_view kInstructions = "smsp__inst_executed.sum";
  constexpr std::string_view kTensor =
      "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active";
  const auto executed = find(candidate, kInstructions);
  const auto before = find(original, kInstructions);
  // One tensor instruction does the work of hundreds.
  const bool tensor = find(candidate, kTensor).value_or(0.0) > 0.0;
  const double least =
      (required.input_bytes + required.output_bytes) / kBytesPerInstruction +
      required.flops.value_or(std::numeric_limits<double>::infinity()) / kFlopsPerInstruction;
  if (executed && before && !tensor && *executed < kInstructionShare * *before &&
      *executed < least) {
    found.push_back(
        fmt::format("executes {:.4g} warp instructions where the original executes {:.4g}",
                    *executed, *before));
  }
  return found;
}

}  // namespace regraph::gpu
