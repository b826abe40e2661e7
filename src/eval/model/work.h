// Machine work of an average warp, estimated from PTX counters.
#pragma once

#include "ptx/interpreter.h"

#include <vector>

namespace regraph {

// How much faster than by mma.sync tensor cores multiply by wgmma: on Hopper mma.sync reaches 62.9
// % of the data sheet's rate (Luo and others, 2024; device_entries.cpp), wgmma all of it.
inline constexpr double kWarpgroupSpeed = 1.0 / 0.629;

// Per warp, averaged over the sampled blocks. Counts are warp-level instructions.
struct WarpWork {
  double issued = 0.0;  // issue slots
  double fp32 = 0.0;
  double fp64 = 0.0;
  double integer = 0.0;               // additions, logic, comparisons, conversions of width 32
  double integer_instructions = 0.0;  // PTX instructions on integers, divisions unexpanded
  double integer_multiply = 0.0;
  double special_function = 0.0;
  double constant_loads = 0.0;  // from constant memory into registers; 0 when estimated from PTX
  double shuffle = 0.0;
  double tf32_products = 0.0;      // multiply-adds of tensor cores
  double half_products = 0.0;      // those of 16-bit factors
  bool has_warpgroups = false;     // wgmma is among them
  double byte_products = 0.0;      // those of 8-bit factors
  double fp64_products = 0.0;      // those of doubles
  double shared_wavefronts = 0.0;  // bank passes
  double global_passes = 0.0;      // load/store path clocks of global accesses
  double branches = 0.0;
  double barriers = 0.0;
  // Share of the issue slots, 0 to 1, in code where barriers keep the warps of a block in step: not
  // in loops, however nested, without any. 1 when estimated from PTX.
  double in_step = 1.0;
  double memory = 0.0;  // memory instructions
  double atomics = 0.0;
  double global_loads = 0.0;
  double global_load_requests = 0.0;
  double global_load_sectors = 0.0;
  double global_load_bytes = 0.0;  // per lane, summed
  double global_store_requests = 0.0;
  double global_store_sectors = 0.0;
  double shared_requests = 0.0;
  double shared_ideal_wavefronts = 0.0;
  double active_lanes = 0.0;  // mean active lanes of an executed instruction
  double all = 0.0;           // PTX instructions
};

// Clocks of the load/store path for all executions of one access to global memory: the data banks,
// or the tag stage, which takes one clock for a single line and 0.25 clocks a line plus 0.55 beyond
// (fitted to stride sweeps measured on an H200, 1.8 % mean error).
[[nodiscard]] double global_passes(const ptx::InstructionProfile& access);

// `merged` (see merge_groups.h) has one entry an instruction; empty: nothing is joined.
[[nodiscard]] WarpWork work_of(const ptx::Profile& profile, const std::vector<double>& merged = {});

}  // namespace regraph
