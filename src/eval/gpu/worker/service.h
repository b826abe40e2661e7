// Answers the evaluator's messages.
#pragma once

#include "base/shared_memory.h"
#include "eval/gpu/worker/device.h"
#include "eval/gpu/worker/device_buffers.h"
#include "eval/gpu/worker/profiled_run.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace regraph::gpu::worker {

class Service {
 public:
  Service(const Driver& driver, SharedMemory shared)
      : device_(driver),
        buffers_(device_),
        profiled_(device_, buffers_),
        shared_(std::move(shared)) {}

  struct Answer {
    std::string message;
    bool last = false;  // the worker must end: its context is lost
  };
  // Never throws: whatever is wrong becomes the answer.
  [[nodiscard]] Answer answer(std::string_view request);

 private:
  struct Module {
    CUmodule handle = nullptr;
    std::vector<CUfunction> functions;
  };

  [[nodiscard]] std::string perform(const Message& request);
  [[nodiscard]] LoadResponse load(const LoadRequest& request);
  void set_symbol(const SymbolRequest& request);
  [[nodiscard]] RunResponse run(const RunRequest& request);
  void free(const FreeRequest& request);
  [[nodiscard]] CUfunction function_of(const LaunchMessage& launch) const;
  [[nodiscard]] FunctionProperties prepare(CUfunction function, const FunctionRequest& wanted);
  [[nodiscard]] std::span<std::byte> shared();

  Device device_;
  DeviceBuffers buffers_;
  ProfiledRun profiled_;
  SharedMemory shared_;
  std::map<int, Module> modules_;
  int next_module_ = 1;
};

}  // namespace regraph::gpu::worker
