// The GPUs that a worker of a fleet measures on.
#pragma once

#include "base/cancellation.h"
#include "eval/gpu/protocol/messages.h"
#include "session/installation.h"
#include "session/session_error.h"

#include <string>
#include <vector>

namespace regraph::cli {

struct WorkerGpu {
  int device = 0;  // ordinal among those that CUDA shows
  gpu::DeviceProperties properties;
};

// The GPUs that `wanted` names: "all" that can be used, which may be none, "none", or ordinals,
// "0,2", which must be there. Errors: usage, no_device.
[[nodiscard]] Result<std::vector<WorkerGpu>, SessionError> find_worker_gpus(
    const std::string& wanted, const Installation& installation, const Cancellation& cancellation);

// `environment` ("NAME=value") with one GPU in it: a process that is started with it sees no other.
[[nodiscard]] std::vector<std::string> environment_for_gpu(const WorkerGpu& gpu,
                                                           std::vector<std::string> environment);

}  // namespace regraph::cli
