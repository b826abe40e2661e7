#include "session/evaluators.h"

#include "eval/gpu/counters/cupti_library.h"
#include "eval/gpu/driver/harness_kernels.h"
#include "eval/gpu/protocol/gpu_process.h"
#include "eval/model/model_evaluator.h"

#include <algorithm>
#include <utility>

namespace regraph {
namespace {

constexpr EvaluatorKind kEvaluators[] = {
    {"auto", "gpu if the device is here, else model", EvaluatorKind::Gpu::if_there},
    {"gpu", "measured; what the model puts far behind is not", EvaluatorKind::Gpu::required},
    {"gpu-only", "all measured", EvaluatorKind::Gpu::required},
    {"model", "predicted", EvaluatorKind::Gpu::not_used},
};

// The GPUs that CUDA shows which are like the first one.
struct EqualGpus {
  std::vector<int> devices = {0};
  std::vector<std::string> bus_ids;
};

EqualGpus equal_gpus(const gpu::DeviceProperties& first, const std::filesystem::path& worker,
                     const Cancellation& cancellation) {
  EqualGpus found;
  found.bus_ids.push_back(first.bus_id);
  for (int device = 1; device < first.device_count; ++device) {
    const auto other = gpu::probe_gpu(worker, device, cancellation);
    const bool equal =
        other.ok() && other->name == first.name && other->architecture == first.architecture;
    if (!equal) continue;
    found.devices.push_back(device);
    found.bus_ids.push_back(other->bus_id);
  }
  return found;
}

}  // namespace

std::span<const EvaluatorKind> evaluator_kinds() {
  return kEvaluators;
}

const EvaluatorKind* find_evaluator_kind(std::string_view name) {
  const auto* const found = std::ranges::find(kEvaluators, name, &EvaluatorKind::name);
  return found == std::end(kEvaluators) ? nullptr : found;
}

Result<SessionEvaluator, SessionError> make_evaluator(
    const std::string& name, const OpenedProblem& opened, Toolchain& toolchain,
    const Installation& installation, std::uint64_t seed, const Cancellation& cancellation) {
  SessionEvaluator result;
  if (!opened.device.gpu) {
    const bool by_fleet = opened.device.fleet_gpu.has_value();
    result.name = by_fleet ? (name == "gpu-only" ? name : "gpu") : "model";
    result.evaluator = std::make_unique<ModelEvaluator>(opened.problem, *toolchain.compiler,
                                                        *opened.verifier, opened.device.device);
    return result;
  }
  result.name = name == "gpu-only" ? name : "gpu";
  gpu::GpuEvaluatorConfig config;
  config.worker.program = installation.gpu_worker();
  config.model = opened.device.device;
  config.model_first = result.name != "gpu-only";
  config.seed = seed;
  EqualGpus gpus = equal_gpus(*opened.device.gpu, config.worker.program, cancellation);
  config.devices = std::move(gpus.devices);
  config.bus_ids = gpus.bus_ids;
  result.gpu_bus_ids = std::move(gpus.bus_ids);
  auto harness =
      gpu::compile_harness(*toolchain.compiler, opened.device.gpu->architecture, cancellation);
  if (!harness) return SessionError{FailureCause::internal, harness.error().message};
  config.worker.harness = std::move(*harness);
  for (const std::filesystem::path& file : gpu::cupti_candidates(toolchain.cuda_root))
    config.cupti.push_back(file.string());
  auto evaluator = std::make_unique<gpu::GpuEvaluator>(
      *toolchain.compiler, *opened.verifier, opened.problem, opened.compiled, std::move(config));
  result.gpu = evaluator.get();
  result.evaluator = std::move(evaluator);
  return result;
}

}  // namespace regraph
