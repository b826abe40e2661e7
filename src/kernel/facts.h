// The vocabulary of counters and static facts. Evidence rules, reports and models use these names;
// the interpreter, the timing model and hardware counters fill them.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace regraph {

// Name -> value. A fact that is not known is absent, never 0.
using Facts = std::map<std::string, double, std::less<>>;

struct FactDescription {
  std::string_view name;
  std::string_view unit;
  std::string_view meaning;
};

inline constexpr FactDescription kFactDescriptions[] = {
    {"global_load_sectors_per_request", "sectors",
     "32-byte sectors a warp-wide global load touches"},
    {"global_store_sectors_per_request", "sectors",
     "32-byte sectors a warp-wide global store touches"},
    {"global_load_sectors_over_ideal", "ratio",
     "sectors that global loads touch over the fewest that hold the bytes wanted, 1 is ideal"},
    {"global_store_sectors_over_ideal", "ratio",
     "sectors that global stores touch over the fewest that hold the bytes written, 1 is ideal"},
    {"global_sectors_over_ideal", "ratio", "the same of global loads and stores together"},
    {"global_load_bytes_per_thread", "bytes", "mean width of a global load"},
    {"global_load_reuse", "ratio", "bytes that threads load over bytes read from DRAM"},
    {"uniform_load_share", "fraction", "global loads whose active lanes want one address"},
    {"read_only_load_share", "fraction",
     "global loads by way of the read-only cache (ld.global.nc)"},
    {"repeated_access_share", "fraction",
     "global loads and stores whose address stays the same in their innermost loop"},
    {"shared_wavefronts_per_request", "wavefronts",
     "bank passes of a shared access, 1 is ideal for 4 bytes"},
    {"shared_wavefronts_over_ideal", "ratio",
     "bank passes of shared loads and stores over those without conflicts, 1 is ideal"},
    {"shared_access_bytes_per_thread", "bytes", "mean width of a shared load or store"},
    {"shared_conflict_share", "fraction", "shared wavefronts beyond the conflict-free number"},
    {"l1_hit_rate", "fraction", "of global load sectors"},
    {"l2_hit_rate", "fraction", "of L2 read sectors"},
    {"dram_bytes_over_compulsory", "ratio", "DRAM traffic over the bytes that must move"},
    {"dram_utilization", "fraction", "of the achievable DRAM bandwidth"},
    {"atomic_utilization", "fraction", "of the time the L2 needs for global atomics alone"},
    {"l2_utilization", "fraction", "of the L2 bandwidth"},
    {"lsu_utilization", "fraction", "of the load/store pipe (shared memory and L1)"},
    {"fma_utilization", "fraction", "of the FP32 pipe"},
    {"alu_utilization", "fraction", "of the integer pipe"},
    {"fp64_utilization", "fraction", "of the FP64 pipe"},
    {"special_function_utilization", "fraction", "of the pipe for exp, log, rsqrt, ..."},
    {"tensor_utilization", "fraction", "of the tensor pipe"},
    {"issue_utilization", "fraction", "of issue slots"},
    {"latency_share", "fraction", "of the time that is exposed latency"},
    {"occupancy", "fraction", "resident warps over the maximum"},
    {"achieved_occupancy", "fraction", "measured warps in flight over the maximum, on busy SMs"},
    {"sm_active_share", "fraction", "of the time an SM is busy; low: few blocks or a long tail"},
    {"limited_by_registers", "0 or 1", "registers limit the occupancy"},
    {"limited_by_shared_memory", "0 or 1", "shared memory limits the occupancy"},
    {"limited_by_blocks", "0 or 1", "the block count limits the occupancy"},
    {"limited_by_warps", "0 or 1", "the warp count limits the occupancy"},
    {"registers_per_thread", "registers", "after ptxas"},
    {"spill_bytes", "bytes", "spill stores and loads per thread after ptxas"},
    {"shared_bytes_per_block", "bytes", "static and dynamic"},
    {"threads_per_block", "threads", ""},
    {"waves", "waves", "blocks over resident blocks of the whole GPU"},
    {"warp_slots_filled", "fraction", "of the GPU's room for warps that the grid fills at once"},
    {"blocks_per_multiprocessor", "blocks",
     "of the grid over the number of SMs; below 1 some idle"},
    {"compute_capability", "", "of the device, 9 for sm_90"},
    {"loop_depth", "loops", "the deepest nest of loops that the compiler left"},
    {"accumulation_chains", "chains",
     "independent sums and the like that a loop carries around, the hottest that does"},
    {"accumulated_product_share", "fraction",
     "of the arithmetic that is multiply-adds onto a value carried around a loop"},
    {"guard_share", "fraction",
     "conditions on work in the mix, neither of loops nor of early exits"},
    {"approximable_share", "fraction",
     "single-precision divisions, roots and functions in the mix"},
    {"thread_efficiency", "fraction", "active lanes per executed warp instruction over 32"},
    {"barriers_per_warp", "barriers", "dynamic barriers a warp executes"},
    {"arithmetic_intensity", "flop/byte", "useful work over DRAM bytes"},
    {"roofline_fraction", "fraction", "roofline time over the time"},
    {"fp32_share", "fraction", "FP32 arithmetic in the dynamic instruction mix"},
    {"integer_share", "fraction", "integer arithmetic in the mix"},
    {"memory_share", "fraction", "memory instructions in the mix"},
    {"branch_share", "fraction", "branches in the mix"},
    {"special_function_share", "fraction", "exp, log, rsqrt, ... in the mix"},
    {"shuffle_share", "fraction", "warp shuffles in the mix"},
    {"atomic_share", "fraction", "atomics in the mix"},
    {"flops_per_global_load", "flop/load", "FP32 operations per global load instruction"},
    {"dram_read_bytes", "bytes", "measured, read from DRAM by a launch"},
    {"dram_written_bytes", "bytes", "measured, written to DRAM before a launch ends"},
    {"warp_instructions", "instructions", "executed by all warps of a launch"},
    {"long_scoreboard_stall_share", "fraction",
     "of the time of warps in flight: waiting for global, local or texture memory"},
    {"short_scoreboard_stall_share", "fraction",
     "waiting for shared memory, special functions or shuffles"},
    {"barrier_stall_share", "fraction", "waiting at a block barrier"},
    {"math_pipe_stall_share", "fraction", "waiting for an arithmetic pipe"},
    {"load_store_queue_stall_share", "fraction", "waiting for room in the queue to global memory"},
    {"memory_input_output_queue_stall_share", "fraction",
     "waiting for room in the queue to shared memory and special functions"},
    {"fixed_latency_stall_share", "fraction", "waiting for an earlier instruction's known latency"},
    {"not_selected_stall_share", "fraction", "ready, but another warp was issued"},
    {"branch_stall_share", "fraction", "waiting for a branch target"},
    {"instruction_fetch_stall_share", "fraction", "waiting for instructions"},
    {"predicted_seconds", "seconds", "what the model made of a kernel that was then measured"},
    {"caveat_truncated_trace", "1", "the cache simulation was cut short"},
    {"caveat_close_bounds", "1", "the two largest bounds are within 10 %"},
    {"caveat_float_atomics", "1", "floating-point atomics meet"},
    {"caveat_unmeasured_atomics", "1", "atomics on 16 or 64 bits"},
    {"caveat_local_memory", "1", "local memory is used"},
    {"caveat_ptx_counts", "1", "work is counted in PTX, not in machine code"},
    {"caveat_unequal_blocks", "1", "blocks differ in their work"},
    {"volatile_shared", "1", "reads shared memory through volatile, as lanes in lockstep do"},
    {"sampled_bench_sizes", "1", "bench sizes at which some blocks alone were compared"},
    {"untaken_branches", "1", "branches of its own that no run took, whatever was tried"},
};

// Returns whether `name` is part of the vocabulary.
[[nodiscard]] constexpr bool is_known_fact(std::string_view name) {
  for (const FactDescription& description : kFactDescriptions) {
    if (description.name == name) return true;
  }
  return false;
}

}  // namespace regraph
