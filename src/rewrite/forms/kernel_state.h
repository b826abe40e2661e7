// What a step transforms.
#pragma once

#include "affine/refusal.h"
#include "kernel/launch_plan.h"
#include "rewrite/forms/ir.h"

#include <string>
#include <vector>

namespace regraph::rewrite {

// The code, how it is launched, and what it has come to rely on.
struct KernelState {
  Unit unit;
  LaunchPlan plan;
  std::vector<std::string> assumptions;  // sorted, without repetition
};

// What steps come to rely on, for KernelState::assumptions.
inline constexpr const char* kNeedsDistinctBuffers = "buffers do not overlap";
inline constexpr const char* kReordersSums = "floating-point sums may be reordered";
inline constexpr const char* kLowersPrecision = "factors may be rounded to lower precision";
inline constexpr const char* kSplitsFactors = "factors may be sums of two tf32 numbers (3xTF32)";
inline constexpr const char* kApproximates = "single-precision functions may be approximate";
inline constexpr const char* kInvertsRoots =
    "quotients by square roots may be products with approximate reciprocal ones";
inline constexpr const char* kInvertsDivisors =
    "quotients by one value may be products with its reciprocal";

inline constexpr const char* kNeedsOwnTarget =
    "it is compiled for sm_90a (nvcc -arch=sm_90a), whose code runs on compute capability 9.0 "
    "alone";

// Notes that the state relies on `assumption`; once is enough.
void rely_on(KernelState& state, const std::string& assumption);
// Notes that every buffer has to begin at a multiple of so many bytes, for vectors.
void rely_on_alignment(KernelState& state, int bytes);

// Sets the one launch of the state. A bound on the threads of a block follows the launch's.
void relaunch(KernelState& state, const Launch& launch);

}  // namespace regraph::rewrite
