// What a fault of the interpreter says about a candidate.
#pragma once

#include "base/result.h"
#include "kernel/evaluation.h"
#include "ptx/interpreter.h"

#include <string>

namespace regraph::verify {

// A candidate may execute this many times the original's warp instructions before it counts as
// endless.
inline constexpr int kBudgetFactor = 50;

// Returns Verdict::correct for FaultKind::none.
[[nodiscard]] Verdict verdict_of(ptx::FaultKind kind);

// The fault in words, with where it happened.
[[nodiscard]] std::string describe_fault(const ptx::Fault& fault);

// What an error on the way to a candidate's first instruction says about it.
[[nodiscard]] Verdict verdict_of(ErrorCode code);

}  // namespace regraph::verify
