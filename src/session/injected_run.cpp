#include "session/injected_run.h"

#include "capture/device/injected_program.h"
#include "capture/program_kernels.h"
#include "eval/compile/compiler.h"
#include "eval/gpu/counters/cupti_library.h"

#include <cstdlib>
#include <system_error>
#include <utility>

namespace regraph {
namespace {

namespace fs = std::filesystem;

// The first that is a file; the last is a name that the linker looks for.
std::string cupti_path() {
  const auto toolkit = find_cuda_toolkit();
  const auto candidates = gpu::cupti_candidates(toolkit ? toolkit->root : fs::path());
  std::error_code ignored;
  for (const fs::path& one : candidates) {
    if (fs::exists(one, ignored)) return one.string();
  }
  return candidates.empty() ? "libcupti.so" : candidates.back().string();
}

// PyTorch cuts its tensors out of large allocations, unless told otherwise: then each has one of
// its own, as long as it is, and two tensors do not look as if they overlapped.
constexpr const char* kUncachedPytorch = "PYTORCH_NO_CUDA_MEMORY_CACHING";

}  // namespace

bool has_gpu() {
  std::error_code ignored;
  return fs::exists("/dev/nvidiactl", ignored) || fs::exists("/dev/dxg", ignored);
}

Result<InjectedRun, SessionError> run_injected(const std::vector<std::string>& command,
                                               const fs::path& output, double wall_seconds,
                                               const Installation& installation,
                                               capture::LaunchObserver& observer,
                                               const Cancellation& cancellation) {
  // Of scripts, and of kernels made while a program runs, the driver knows.
  auto kernels = capture::read_program_kernels(command.front());
  capture::InjectedProgram program(kernels ? *std::move(kernels) : capture::ProgramKernels(),
                                   observer);
  capture::ProgramRun run{command, {}, wall_seconds, output};
  run.variables = {
      "CUDA_INJECTION64_PATH=" + fs::absolute(installation.capture_injection()).string(),
      "REGRAPH_CUPTI=" + cupti_path()};
  // A user who sets it knows why.
  if (std::getenv(kUncachedPytorch) == nullptr)
    run.variables.push_back(std::string(kUncachedPytorch) + "=1");
  const auto end = capture::capture_program(run, program, cancellation);
  if (!end) {
    const bool absent = end.error().code == ErrorCode::not_found;
    return SessionError{absent ? FailureCause::usage : FailureCause::internal, end.error().message};
  }
  if (cancellation.requested()) return SessionError{FailureCause::interrupted, "interrupted"};
  return InjectedRun{
      *end, program.launches(), {program.troubles().begin(), program.troubles().end()}};
}

}  // namespace regraph
