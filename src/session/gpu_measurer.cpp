#include "session/gpu_measurer.h"

#include <cstdlib>
#include <utility>

namespace regraph {

GpuMeasurer::GpuMeasurer(gpu::GpuEvaluator& evaluator, const gpu::DeviceProperties& properties,
                         gpu::DisturbanceLog& disturbances, std::filesystem::path cuda_root)
    : evaluator_(evaluator),
      properties_(properties),
      disturbances_(disturbances),
      cuda_root_(std::move(cuda_root)) {}

void GpuMeasurer::time_once_more(const Candidate& best, AnswerTrial& trial,
                                 const Cancellation& interrupted) const {
  auto measured = evaluator_.measure_answer(best, interrupted);
  if (measured.ok()) {
    trial.measurement.speedup = std::move(*measured);
    // The search's own interval was too narrow.
    if (trial.measurement.speedup->cold.low <= 1.0)
      trial.objections.emplace_back(
          "timed once more beside the original it is not faster beyond the noise");
    return;
  }
  const gpu::Failure& failure = measured.error();
  const bool machine = failure.final && failure.cuda == 0 && !failure.timeout;
  const std::string what = "the answer could not be measured once more";
  if (machine || interrupted.requested()) {
    trial.notes.push_back(what + ": " + failure.message);
  } else {
    trial.objections.push_back(what + ": " + failure.message);
  }
}

void GpuMeasurer::sanitize_once(const Candidate& best, AnswerTrial& trial,
                                const Cancellation& interrupted) const {
  const char* const path = std::getenv("PATH");
  const auto program = gpu::find_sanitizer(cuda_root_, path != nullptr ? path : "");
  if (!program) return;
  gpu::SanitizerConfig config;
  config.program = *program;
  SanitizerReport report = evaluator_.sanitize_answer(best, config, interrupted);
  if (!report.findings.empty())
    trial.objections.push_back("compute-sanitizer, " + report.findings.front());
  trial.measurement.sanitizer = std::move(report);
}

Measurement GpuMeasurer::measurement() const {
  const gpu::GpuStatistics statistics = evaluator_.statistics();
  Measurement measurement;
  measurement.gpu = properties_.name;
  measurement.driver_version = properties_.driver_version;
  measurement.timed = statistics.timed;
  measurement.pruned = statistics.pruned;
  measurement.faults = statistics.faults_on_gpu;
  measurement.workers = statistics.workers;
  measurement.devices = statistics.devices;
  measurement.noise = statistics.noise;
  measurement.clock_hertz = statistics.clock_hertz;
  measurement.original_seconds = statistics.original_seconds;
  measurement.compile_and_verify_seconds = statistics.compile_and_verify_seconds;
  measurement.model_seconds = statistics.model_seconds;
  measurement.probation_seconds = statistics.probation_seconds;
  measurement.timing_seconds = statistics.timing_seconds;
  measurement.furnishing_seconds = statistics.furnishing_seconds;
  measurement.profiling_seconds = statistics.profiling_seconds;
  measurement.waiting_seconds = statistics.waiting_seconds;
  measurement.profiled = statistics.profiled;
  measurement.exact_looks = statistics.exact_looks;
  measurement.double_looks = statistics.double_looks;
  measurement.no_counters = statistics.no_counters;
  return measurement;
}

AnswerTrial GpuMeasurer::try_answer(const Candidate* answer, bool sanitize,
                                    const Cancellation& interrupted) {
  AnswerTrial trial;
  trial.measurement = measurement();
  const auto claimed = [&] {
    return answer != nullptr && trial.stands() && !interrupted.requested();
  };
  if (claimed()) time_once_more(*answer, trial, interrupted);
  // Before other tools put the GPU to work.
  (void)disturbances_.look(true);
  trial.measurement.disturbances = disturbances_.seen();
  if (sanitize && claimed()) sanitize_once(*answer, trial, interrupted);
  trial.measurement.answer_seconds = evaluator_.statistics().answer_seconds;
  return trial;
}

}  // namespace regraph
