// The coordinator's side of one GPU worker process.
#pragma once

#include "base/cancellation.h"
#include "base/result.h"
#include "base/service_process.h"
#include "base/shared_memory.h"
#include "eval/gpu/protocol/messages.h"

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace regraph::gpu {

// Where the worker is, and what it needs.
struct GpuWorkerConfiguration {
  std::filesystem::path program;      // regraph-eval
  int device = 0;                     // ordinal among those that CUDA shows
  std::vector<std::uint8_t> harness;  // cubin of the harness's kernels
  double start_seconds = 60.0;        // for the driver and a context
  // A program with arguments that is to run the worker, such as a checking tool; empty: none.
  // Neither outlives the other, nor this process. It may not use standard input and output.
  std::vector<std::string> wrapper;
};

// The worker's environment: what of this process's concerns CUDA, and nothing else.
[[nodiscard]] std::vector<std::string> gpu_environment();

// What the driver says of a GPU that can be used now, from a worker that ends at once. Errors:
// not_found (no driver or no GPU), unsupported (driver too old), resource (among others, the GPU is
// taken), io: all in words.
[[nodiscard]] Result<DeviceProperties> probe_gpu(const std::filesystem::path& program, int device,
                                                 const Cancellation& cancellation);

// One worker with a context. Not thread-safe. Device code that breaks its context breaks this
// process alone; make another then.
class GpuProcess {
 public:
  // Errors as probe_gpu.
  [[nodiscard]] static Result<std::unique_ptr<GpuProcess>> start(
      const GpuWorkerConfiguration& configuration, const Cancellation& cancellation);

  [[nodiscard]] const DeviceProperties& device() const { return device_; }
  [[nodiscard]] bool alive() const { return process_.alive(); }
  // Lets it end by itself, as a wrapper needs that has still to report. Gone in any case. Errors as
  // ServiceProcess::finish.
  [[nodiscard]] Status finish(double seconds, const Cancellation& stop) {
    return process_.finish(seconds, stop);
  }

  // Memory that the worker sees too. Grow it before stretches are handed out.
  [[nodiscard]] SharedMemory& shared() { return shared_; }

  [[nodiscard]] Result<LoadResponse, Failure> load(const LoadRequest& request,
                                                   const Cancellation& stop);
  [[nodiscard]] Result<AllocateResponse, Failure> allocate(const AllocateRequest& request,
                                                           const Cancellation& stop);
  [[nodiscard]] Result<void, Failure> set_symbol(const SymbolRequest& request,
                                                 const Cancellation& stop);
  [[nodiscard]] Result<RunResponse, Failure> run(const RunRequest& request,
                                                 const Cancellation& stop);
  [[nodiscard]] Result<TimeResponse, Failure> time(const TimeRequest& request,
                                                   const Cancellation& stop);
  [[nodiscard]] Result<ProfileResponse, Failure> profile(const ProfileRequest& request,
                                                         const Cancellation& stop);
  [[nodiscard]] Result<void, Failure> free(const FreeRequest& request, const Cancellation& stop);

 private:
  GpuProcess(ServiceProcess process, SharedMemory shared)
      : process_(std::move(process)), shared_(std::move(shared)) {}

  template <typename Request>
  [[nodiscard]] Result<Message, Failure> ask(const char* operation, const Request& request,
                                             double seconds, const Cancellation& stop);
  void give_up(const Cancellation& stop);
  template <typename Response, typename Request>
  [[nodiscard]] Result<Response, Failure> ask_for(const char* operation, const Request& request,
                                                  double seconds, const Cancellation& stop);

  ServiceProcess process_;
  SharedMemory shared_;
  DeviceProperties device_;
  bool wrapped_ = false;
};

}  // namespace regraph::gpu
