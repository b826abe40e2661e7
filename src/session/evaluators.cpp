#include "session/evaluators.h"

#include "eval/gpu/counters/cupti_library.h"
#include "eval/gpu/driver/harness_kernels.h"
#include "eval/gpu/protocol/gpu_process.h"
#include "eval/model/model_evaluator.h"
#include "session/gpu_measurer.h"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

namespace regraph {
namespace {

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

// Times are predicted, or measured by a fleet, which is told what to expect.
Result<SessionEvaluator, SessionError> make_predicting(const EvaluatorPlace& place,
                                                       const Cancellation& /*cancellation*/) {
  SessionEvaluator result;
  result.name = "model";
  result.evaluator =
      std::make_unique<ModelEvaluator>(place.opened.problem, *place.toolchain.compiler,
                                       *place.opened.verifier, place.opened.device.device);
  return result;
}

// Times are measured by this machine's GPUs, or by a fleet's. `model_first`: what is predicted to
// be far behind is not measured.
Result<SessionEvaluator, SessionError> make_measuring(const EvaluatorPlace& place, bool model_first,
                                                      const Cancellation& cancellation) {
  const OpenedProblem& opened = place.opened;
  const char* const name = model_first ? "gpu" : "gpu-only";
  if (!opened.device.gpu) {
    auto predicting = make_predicting(place, cancellation);
    if (predicting) predicting->name = name;
    return predicting;
  }
  gpu::GpuEvaluatorConfig config;
  config.worker.program = place.installation.gpu_worker();
  config.model = opened.device.device;
  config.model_first = model_first;
  config.seed = place.seed;
  EqualGpus gpus = equal_gpus(*opened.device.gpu, config.worker.program, cancellation);
  config.devices = std::move(gpus.devices);
  config.bus_ids = gpus.bus_ids;
  Toolchain& toolchain = place.toolchain;
  auto harness =
      gpu::compile_harness(*toolchain.compiler, opened.device.gpu->architecture, cancellation);
  if (!harness) return SessionError{FailureCause::internal, harness.error().message};
  config.worker.harness = std::move(*harness);
  for (const std::filesystem::path& file : gpu::cupti_candidates(toolchain.cuda_root))
    config.cupti.push_back(file.string());
  auto evaluator = std::make_unique<gpu::GpuEvaluator>(
      *toolchain.compiler, *opened.verifier, opened.problem, opened.compiled, std::move(config));
  SessionEvaluator result;
  result.name = name;
  result.disturbances =
      std::make_unique<gpu::DisturbanceLog>(std::move(gpus.bus_ids), gpu::nvml_candidates());
  result.measurer = std::make_unique<GpuMeasurer>(*evaluator, *opened.device.gpu,
                                                  *result.disturbances, toolchain.cuda_root);
  result.evaluator = std::move(evaluator);
  return result;
}

Result<SessionEvaluator, SessionError> make_gpu(const EvaluatorPlace& place,
                                                const Cancellation& cancellation) {
  return make_measuring(place, true, cancellation);
}

Result<SessionEvaluator, SessionError> make_gpu_only(const EvaluatorPlace& place,
                                                     const Cancellation& cancellation) {
  return make_measuring(place, false, cancellation);
}

Result<SessionEvaluator, SessionError> make_auto(const EvaluatorPlace& place,
                                                 const Cancellation& cancellation) {
  const bool measures = place.opened.device.gpu || place.opened.device.fleet_gpu;
  return measures ? make_gpu(place, cancellation) : make_predicting(place, cancellation);
}

constexpr EvaluatorKind kEvaluators[] = {
    {"auto", "gpu if the device is here, else model", EvaluatorKind::Gpu::if_there, make_auto},
    {"gpu", "measured; what the model puts far behind is not", EvaluatorKind::Gpu::required,
     make_gpu},
    {"gpu-only", "all measured", EvaluatorKind::Gpu::required, make_gpu_only},
    {"model", "predicted", EvaluatorKind::Gpu::not_used, make_predicting},
};

}  // namespace

std::span<const EvaluatorKind> evaluator_kinds() {
  return kEvaluators;
}

const EvaluatorKind* find_evaluator_kind(std::string_view name) {
  const auto* const found = std::ranges::find(kEvaluators, name, &EvaluatorKind::name);
  return found == std::end(kEvaluators) ? nullptr : found;
}

}  // namespace regraph
