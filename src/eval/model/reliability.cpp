#include "eval/model/reliability.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace regraph {
namespace {

// Bounds this close: which one is larger, and what a p-norm makes of them, is within the error of
// either.
constexpr double kCloseBounds = 0.9;
// A bound counts as met by floating-point atomics from this share of the largest on.
constexpr double kShareThatMatters = 0.25;

// Half widths with one caveat alone. Truncation: as the model has always had it. The others are
// judgements, ordered by the errors in docs/simulator.md.
constexpr double kCloseUncertainty = 0.25;
constexpr double kFloatAtomicsUncertainty = 0.30;
constexpr double kUnmeasuredAtomicsUncertainty = 0.30;
constexpr double kLocalMemoryUncertainty = 0.35;
constexpr double kPtxCountsUncertainty = 0.25;
// Unequal blocks: two standard errors of their mean, within these.
constexpr double kUnequalUncertainty = 0.3;
constexpr double kMostUnequalUncertainty = 0.8;

// All caveats together.
constexpr double kWidestUncertainty = 0.9;

bool float_atomics_meet(const ModelInput& input, const TimeBounds& bounds, double largest) {
  const bool global = input.traffic.atomics.hottest_floating_passes > 0.0 &&
                      bounds.atomics > kShareThatMatters * largest;
  double rounds = 0.0;
  for (const ptx::InstructionProfile& p : input.sample.instructions) {
    if (p.instruction_class == ptx::InstructionClass::atomic_shared && p.atomic_floating)
      rounds += static_cast<double>(p.word_lanes);
  }
  return global || (rounds > 0.0 && bounds.load_store > kShareThatMatters * largest);
}

// Those of one float, of float4 and of pairs of halves follow bench/h200/atomics.txt; nothing tells
// float2, which does, too, from a double.
bool unmeasured_atomics_matter(const ModelInput& input, const TimeBounds& bounds, double largest) {
  const auto is_measured = [](int bytes) { return bytes == 4 || bytes == 16; };
  return bounds.atomics > kShareThatMatters * largest &&
         std::any_of(input.sample.instructions.begin(), input.sample.instructions.end(),
                     [&](const ptx::InstructionProfile& p) {
                       return p.instruction_class == ptx::InstructionClass::atomic_global &&
                              p.atomic_floating && p.requests > 0 && !is_measured(p.access_bytes);
                     });
}

bool uses_local_memory(const ModelInput& input) {
  if (input.resources.spill_load_bytes + input.resources.spill_store_bytes > 0) return true;
  return std::any_of(input.sample.instructions.begin(), input.sample.instructions.end(),
                     [](const ptx::InstructionProfile& p) {
                       return p.warp_executions > 0 &&
                              (p.instruction_class == ptx::InstructionClass::load_local ||
                               p.instruction_class == ptx::InstructionClass::store_local);
                     });
}

}  // namespace

double assess_reliability(const ModelInput& input, const TimeBounds& b, bool counted_in_ptx,
                          Facts& facts) {
  std::array<double, 13> all = {
      b.issue,   b.fp32, b.fp64, b.integer, b.special_function, b.constant_loads, b.load_store,
      b.latency, b.l2,   b.dram, b.atomics, b.launch,           b.tensor};
  std::sort(all.begin(), all.end(), std::greater<>());
  double squares = kPredictionUncertainty * kPredictionUncertainty;
  const auto caveat = [&](bool applies, const char* fact, double alone) {
    if (!applies) return;
    facts[fact] = 1.0;
    squares += alone * alone - kPredictionUncertainty * kPredictionUncertainty;
  };
  caveat(input.traffic.truncated, "caveat_truncated_trace", kTruncatedUncertainty);
  caveat(all[1] > kCloseBounds * all[0], "caveat_close_bounds", kCloseUncertainty);
  caveat(float_atomics_meet(input, b, all[0]), "caveat_float_atomics", kFloatAtomicsUncertainty);
  caveat(unmeasured_atomics_matter(input, b, all[0]), "caveat_unmeasured_atomics",
         kUnmeasuredAtomicsUncertainty);
  caveat(uses_local_memory(input), "caveat_local_memory", kLocalMemoryUncertainty);
  caveat(counted_in_ptx, "caveat_ptx_counts", kPtxCountsUncertainty);
  caveat(input.spread_error > 0.0, "caveat_unequal_blocks",
         std::clamp(2.0 * input.spread_error, kUnequalUncertainty, kMostUnequalUncertainty));
  // A time is not below zero.
  return std::min(std::sqrt(squares), kWidestUncertainty);
}

}  // namespace regraph
