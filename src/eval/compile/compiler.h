// CUDA C++ -> PTX and cubin with NVRTC, or nvcc for what NVRTC cannot take, or Triton -> the same,
// in disposable, limited child processes, behind a content-addressed cache on disk.
#pragma once

#include "base/cancellation.h"
#include "base/hash.h"
#include "base/result.h"
#include "kernel/evaluation.h"

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace regraph {

enum class CudaCompiler : unsigned char { nvrtc, nvcc, triton };

// Of NVRTC and nvcc: products and sums stay apart. The only one that Triton follows, too.
inline constexpr const char* kNoContraction = "--fmad=false";

struct CompileRequest {
  std::string source;  // whole translation unit, device code only
  // Plain name of the __global__ function (or a template instance). Empty with want_cubin false:
  // only whether the source compiles is asked, and the entry stays empty.
  std::string kernel;
  std::string architecture;          // "sm_90"
  std::vector<std::string> options;  // further ones that NVRTC and nvcc have, e.g. "-DTILE=16"
  bool want_cubin = true;            // false: PTX only, resources stay empty
};

struct CompiledKernel {
  std::string ptx;
  std::vector<std::byte> cubin;
  std::string entry;        // lowered name in PTX and cubin
  ResourceUsage resources;  // from ptxas
  std::string log;          // compiler's warnings and ptxas' report, at most 8 KiB
  Hash128 machine_code;  // hash of the kernel's .text in the cubin (name and debug data left out)
  CudaCompiler compiler = CudaCompiler::nvrtc;  // that made it
};

// Where the CUDA toolkit is.
struct CudaToolkit {
  std::filesystem::path root;
  std::filesystem::path include;
  std::filesystem::path nvrtc_library;
  std::filesystem::path nvcc;  // empty where it, its ptxas or a host compiler is missing
  std::string how_found;  // "CUDA_HOME", "CUDA_PATH", "PATH", "/usr/local/cuda", "project wheels"
};

// Looks in CUDA_HOME, CUDA_PATH, beside the nvcc on PATH, /usr/local/cuda, then the project's own
// wheel folder. Error: not_found with what was tried and how to get one.
[[nodiscard]] Result<CudaToolkit> find_cuda_toolkit();

// Whether NVRTC's refusal says that the source needs what only nvcc has: headers of the host's C++
// library or those that refuse NVRTC, and names out of them.
[[nodiscard]] bool needs_nvcc(std::string_view refusal);

// The names that a refusal by NVRTC or nvcc calls undefined, each once, without their namespaces.
[[nodiscard]] std::vector<std::string> undefined_names(std::string_view refusal);

// A Python that has Triton.
struct TritonToolkit {
  std::filesystem::path python;
  std::filesystem::path script;                // compile_kernel.py
  std::vector<std::filesystem::path> folders;  // that it and its packages are read from
  std::string version;                         // of Triton: "3.9.0"
};

struct CompilerConfiguration {
  CudaToolkit toolkit;
  TritonToolkit triton = {};  // used where `program` says so
  CudaCompiler program = CudaCompiler::nvrtc;
  std::filesystem::path worker;           // the compile worker program
  std::filesystem::path cache_directory;  // empty: no cache on disk
  double wall_seconds = 30.0;             // then SIGKILL
  std::size_t memory_bytes = std::size_t{4} << 30;
  std::size_t source_limit_bytes = 256 << 10;
};

// Thread-safe; every compile is a child process of its own.
class Compiler {
 public:
  explicit Compiler(CompilerConfiguration configuration);
  ~Compiler();
  Compiler(const Compiler&) = delete;
  Compiler& operator=(const Compiler&) = delete;

  // One like this that runs nvcc and waits twice as long for it; null where there is no nvcc. Which
  // of the two compiles is decided once for a problem: one source is then always compiled by one.
  [[nodiscard]] std::unique_ptr<Compiler> with_nvcc() const;

  // One like this for texts of triton/kernel_text.h; what does not begin as they do is CUDA C++ to
  // it, too, as this program's own kernels are. ptxas must be there.
  [[nodiscard]] std::unique_ptr<Compiler> with_triton(TritonToolkit triton) const;

  // Error codes: compile (the compiler's message, paths of this machine removed), resource (time or
  // memory limit hit, or the compiler crashed), cancelled, io.
  [[nodiscard]] Result<CompiledKernel> compile(const CompileRequest& request,
                                               const Cancellation& cancellation);

  struct Statistics {
    int compiled = 0;
    int cache_hits = 0;
    double compile_seconds = 0.0;
  };
  [[nodiscard]] Statistics statistics() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace regraph
