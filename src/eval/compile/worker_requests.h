// What the worker is asked for a compile.
#pragma once

#include "base/result.h"
#include "eval/compile/compiler.h"
#include "eval/compile/worker_protocol.h"

#include <filesystem>
#include <vector>

namespace regraph::compile_internal {

// For the compiler that the configuration names; nvcc's folder is left empty. Errors: resource (the
// source is too long), compile (it holds a zero byte), invalid_argument (no such architecture).
[[nodiscard]] Result<WorkerRequest> make_worker_request(const CompilerConfiguration& configuration,
                                                        const CompileRequest& request);

// The programs that make nvcc's results what they are.
[[nodiscard]] std::vector<std::filesystem::path> nvcc_programs(const CudaToolkit& toolkit);

}  // namespace regraph::compile_internal
