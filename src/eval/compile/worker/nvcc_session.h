// nvcc for sources that NVRTC cannot take: PTX, and machine code of it by ptxas.
#pragma once

#include "eval/compile/worker_protocol.h"

namespace regraph::compile_internal {

// Enters the sandbox and compiles in the request's folder. Where nvcc, or what it started, was
// ended by a signal, this process ends by the same one, as it does when NVRTC crashes in it.
[[nodiscard]] WorkerResponse compile_with_nvcc(const WorkerRequest& request);

}  // namespace regraph::compile_internal
