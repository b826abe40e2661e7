// Triton, in a Python process of its own in the sandbox.
#pragma once

#include "eval/compile/worker_protocol.h"

namespace regraph::compile_internal {

// Compiles the module of the request with its script, and the PTX with ptxas: the machine code is
// of that PTX, whatever the Python process says. Ends as a program did that a signal ended.
[[nodiscard]] WorkerResponse compile_with_triton(const WorkerRequest& request);

}  // namespace regraph::compile_internal
