#include "eval/gpu/counters/metric_names.h"

#include <array>

namespace regraph::gpu {
namespace {

constexpr std::string_view kNoLaunchCounter = "Nsight Compute computes it from the launch";

constexpr std::array kCudaForge = std::to_array<MetricName>({
    {"sm__cycles_active.avg", "sm__cycles_active.avg", "", ""},
    {"sm__warps_active.avg.pct_of_peak_sustained_active",
     "sm__warps_active.avg.pct_of_peak_sustained_active", "", ""},
    {"launch__occupancy_limit_blocks", "", "limited_by_blocks", kNoLaunchCounter},
    {"launch__occupancy_limit_registers", "", "limited_by_registers", kNoLaunchCounter},
    {"launch__occupancy_limit_shared_mem", "", "limited_by_shared_memory", kNoLaunchCounter},
    {"launch__registers_per_thread", "", "registers_per_thread", kNoLaunchCounter},
    {"sm__inst_executed.sum", "sm__inst_executed.sum", "", ""},
    {"sm__inst_executed_pipe_fp32.avg.pct_of_peak_sustained_active",
     "sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active", "",
     "the FP32 pipe is called fma since Volta"},
    {"sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_active",
     "sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_active", "", ""},
    {"dram__bytes_read.sum", "dram__bytes_read.sum", "", ""},
    {"dram__bytes_write.sum", "dram__bytes_write.sum", "", ""},
    {"dram__throughput.avg.pct_of_peak_sustained_elapsed",
     "dram__throughput.avg.pct_of_peak_sustained_elapsed", "", ""},
    {"dram__bytes.sum.per_second", "dram__bytes.sum.per_second", "", ""},
    {"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
     "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", "", ""},
    {"l1tex__t_sector_hit_rate.pct", "l1tex__t_sector_hit_rate.pct", "", ""},
    {"l1tex__throughput.avg.pct_of_peak_sustained_active",
     "l1tex__throughput.avg.pct_of_peak_sustained_active", "", "several passes"},
    {"lts__t_sector_hit_rate.pct", "lts__t_sector_hit_rate.pct", "", "two passes"},
    {"lts__throughput.avg.pct_of_peak_sustained_active",
     "lts__throughput.avg.pct_of_peak_sustained_active", "", "several passes"},
    {"smsp__warp_issue_stalled_memory_dependency_per_warp_active.pct", "", "",
     "a reason of GPUs before Volta; long_scoreboard is the nearest"},
    {"smsp__warp_issue_stalled_short_scoreboard_per_warp_active.pct",
     "smsp__warp_issue_stalled_short_scoreboard_per_warp_active.pct", "", ""},
    {"smsp__warp_issue_stalled_long_scoreboard_per_warp_active.pct",
     "smsp__warp_issue_stalled_long_scoreboard_per_warp_active.pct", "", ""},
    {"smsp__warp_issue_stalled_barrier_per_warp_active.pct",
     "smsp__warp_issue_stalled_barrier_per_warp_active.pct", "", ""},
    {"smsp__warp_issue_stalled_branch_resolving_per_warp_active.pct",
     "smsp__warp_issue_stalled_branch_resolving_per_warp_active.pct", "", ""},
    {"smsp__sass_average_branch_targets_threads_uniform.pct",
     "smsp__sass_average_branch_targets_threads_uniform.pct", "", "patches the kernel's code"},
});
static_assert(kCudaForge.size() == 24);

}  // namespace

std::span<const MetricName> cudaforge_metrics() {
  return kCudaForge;
}

}  // namespace regraph::gpu
