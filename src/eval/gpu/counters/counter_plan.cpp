#include "eval/gpu/counters/counter_plan.h"

#include "eval/gpu/counters/profiler_host.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace regraph::gpu {
namespace {

// In the order of the tiers, so that each is a prefix of the next.
constexpr std::array kMetrics = std::to_array<std::string_view>({
    // Screening.
    "gpu__time_duration.sum",
    "sm__cycles_active.avg",
    "sm__cycles_elapsed.max",
    "smsp__inst_executed.sum",
    "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "dram__bytes_read.sum",
    "dram__bytes_write.sum",
    "lts__t_sectors.avg.pct_of_peak_sustained_elapsed",
    "lts__t_sectors_op_read.sum",
    "lts__t_sectors_op_write.sum",
    "lts__t_sectors_op_red.sum",
    "lts__t_sectors_op_atom.sum",
    "l1tex__t_sector_hit_rate.pct",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "sm__warps_active.avg.pct_of_peak_sustained_active",
    "smsp__issue_active.avg.pct_of_peak_sustained_active",
    "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
    // Detail.
    "lts__t_sectors_op_read_lookup_hit.sum",
    "sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active",
    "sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active",
    "smsp__warps_issue_stalled_long_scoreboard.avg",
    "smsp__warps_issue_stalled_barrier.avg",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
    "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_active",
    // Full.
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "smsp__average_thread_inst_executed_per_inst_executed.ratio",
    "sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active",
    "sm__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_active",
    "sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active",
    "smsp__warps_issue_stalled_short_scoreboard.avg",
    "smsp__warps_issue_stalled_math_pipe_throttle.avg",
    "smsp__warps_issue_stalled_lg_throttle.avg",
    "smsp__warps_issue_stalled_mio_throttle.avg",
    "smsp__warps_issue_stalled_wait.avg",
    "smsp__warps_issue_stalled_not_selected.avg",
    "smsp__warps_issue_stalled_branch_resolving.avg",
    "smsp__warps_issue_stalled_no_instruction.avg",
});
constexpr std::size_t kScreening = 18;
constexpr std::size_t kDetail = 26;
static_assert(kMetrics[kScreening - 1].starts_with("sm__pipe_tensor"));
static_assert(kMetrics[kDetail - 1].starts_with("l1tex__data_pipe_lsu_wavefronts.avg"));

}  // namespace

std::span<const std::string_view> tier_metrics(CounterTier tier) {
  const std::span<const std::string_view> all = kMetrics;
  switch (tier) {
    case CounterTier::screening:
      return all.first(kScreening);
    case CounterTier::detail:
      return all.first(kDetail);
    case CounterTier::full:
      break;
  }
  return all;
}

Result<CounterPlan> plan_counters(const std::shared_ptr<const CuptiApi>& api, std::string_view chip,
                                  std::span<const std::string_view> metrics,
                                  std::span<const std::uint8_t> availability) {
  auto host = ProfilerHost::create(api, chip, availability);
  if (!host.ok()) return std::move(host).error();
  CounterPlan plan;
  plan.chip = chip;
  plan.availability.assign(availability.begin(), availability.end());
  for (const std::string_view metric : metrics) {
    std::string name(metric);
    auto& list = (*host)->knows(name) ? plan.metrics : plan.unknown;
    if (std::find(list.begin(), list.end(), name) == list.end()) list.push_back(std::move(name));
  }
  if (plan.metrics.empty()) {
    return fail(
        ErrorCode::not_found,
        fmt::format("the chip {} has none of the {} metrics asked for", chip, metrics.size()));
  }
  auto configuration = (*host)->configure(plan.metrics);
  if (!configuration.ok()) return std::move(configuration).error();
  plan.configuration = *std::move(configuration);
  const auto passes = (*host)->passes(plan.configuration);
  if (!passes.ok()) return passes.error();
  plan.passes = *passes;
  return plan;
}

Result<std::vector<std::string>> known_chips(const CuptiApi& api) {
  auto p = cupti_parameters<CUpti_Profiler_Host_GetSupportedChips_Params>(
      CUpti_Profiler_Host_GetSupportedChips_Params_STRUCT_SIZE);
  if (const Status status =
          api.check(api.host_get_supported_chips(&p), "cuptiProfilerHostGetSupportedChips");
      !status.ok()) {
    return status.error();
  }
  std::vector<std::string> chips;
  for (std::size_t i = 0; i < p.numChips; ++i)
    chips.emplace_back(p.ppChipNames[i]);
  return chips;
}

}  // namespace regraph::gpu
