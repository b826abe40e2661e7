// What a fault of the interpreter says about a candidate.
#pragma once

#include "kernel/evaluation.h"
#include "ptx/interpreter.h"

namespace regraph::verify {

// Returns Verdict::correct for FaultKind::none.
[[nodiscard]] Verdict verdict_of(ptx::FaultKind kind);

}  // namespace regraph::verify
