#include "session/measured_answer.h"

#include <cstdlib>
#include <utility>

namespace regraph {
namespace {

void time_once_more(const MeasuringGpu& gpu, const Candidate& best, AnswerTrial& trial,
                    const Cancellation& interrupted) {
  auto measured = gpu.evaluator.measure_answer(best, interrupted);
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

void sanitize_once(const MeasuringGpu& gpu, const Candidate& best, AnswerTrial& trial,
                   const Cancellation& interrupted) {
  const char* const path = std::getenv("PATH");
  const auto program = gpu::find_sanitizer(gpu.cuda_root, path != nullptr ? path : "");
  if (!program) return;
  gpu::SanitizerConfig config;
  config.program = *program;
  SanitizerReport report = gpu.evaluator.sanitize_answer(best, config, interrupted);
  if (!report.findings.empty())
    trial.objections.push_back("compute-sanitizer, " + report.findings.front());
  trial.measurement.sanitizer = std::move(report);
}

}  // namespace

Measurement measurement_of(const MeasuringGpu& gpu) {
  const gpu::GpuStatistics statistics = gpu.evaluator.statistics();
  Measurement measurement;
  measurement.gpu = gpu.properties.name;
  measurement.driver_version = gpu.properties.driver_version;
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

AnswerTrial measure_answer(const MeasuringGpu& gpu, const Candidate* answer, bool sanitize,
                           const Cancellation& interrupted) {
  AnswerTrial trial;
  trial.measurement = measurement_of(gpu);
  const auto claimed = [&] {
    return answer != nullptr && trial.stands() && !interrupted.requested();
  };
  if (claimed()) time_once_more(gpu, *answer, trial, interrupted);
  // Before other tools put the GPU to work.
  (void)gpu.disturbances.look(true);
  trial.measurement.disturbances = gpu.disturbances.seen();
  if (sanitize && claimed()) sanitize_once(gpu, *answer, trial, interrupted);
  trial.measurement.answer_seconds = gpu.evaluator.statistics().answer_seconds;
  return trial;
}

}  // namespace regraph
