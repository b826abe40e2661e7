// What a fault of the interpreter says about a candidate.
#pragma once

#include "base/result.h"
#include "kernel/evaluation.h"
#include "ptx/interpreter.h"

namespace regraph::verify {

// Returns Verdict::correct for FaultKind::none.
[[nodiscard]] Verdict verdict_of(ptx::FaultKind kind);

// What an error on the way to a candidate's first instruction says about it.
[[nodiscard]] Verdict verdict_of(ErrorCode code);

}  // namespace regraph::verify
