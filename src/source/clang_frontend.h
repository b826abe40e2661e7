// CUDA C++ -> kernel IR with Clang 19 (as a library) and the real CUDA headers.
#pragma once

#include "base/result.h"
#include "kernel/problem.h"
#include "source/ir.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace regraph::source {

struct FrontEndConfiguration {
  std::filesystem::path cuda_root;        // holds include/cuda_runtime.h
  std::filesystem::path clang_resources;  // holds include/__clang_cuda_runtime_wrapper.h
  std::string architecture;               // "sm_90": what __CUDA_ARCH__ stands for
  // Whether side effects inside expressions, loops that ask last and references become plain
  // statements. Else what holds them is opaque, as it is where the compiler makes other code of
  // those statements.
  bool takes_apart = true;
};

// Finds Clang's resource directory (REGRAPH_CLANG_RESOURCES, else where it was at build time).
// Sources are parsed as for `architecture`.
[[nodiscard]] Result<FrontEndConfiguration> default_front_end(
    const std::filesystem::path& cuda_root, const std::string& architecture);

struct ParsedKernel {
  KernelSignature signature;
  // The IR, or nothing when the kernel is opaque to the rewriter; then `opaque_reason` says why.
  std::optional<Unit> unit;
  std::string opaque_reason;
};

// Parses `source` and converts the kernel called `kernel`, with its namespaces or without; an empty
// name means the only __global__ function. Errors: not_found (no or several kernels; the message
// lists them), unsupported (a parameter that cannot be passed), parse (nothing usable in the file).
// In-process; reads the headers that the source includes, so parse only what the sandboxed compiler
// has accepted. Thread-safe.
[[nodiscard]] Result<ParsedKernel> parse_kernel(const std::string& source,
                                                const std::string& file_name,
                                                const std::string& kernel,
                                                const FrontEndConfiguration& configuration);

}  // namespace regraph::source
