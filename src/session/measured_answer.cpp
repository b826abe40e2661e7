#include "session/measured_answer.h"

#include <fmt/format.h>

#include <cstdlib>
#include <utility>

namespace regraph {
namespace {

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
  measurement.compile_and_verify_seconds = statistics.compile_and_verify_seconds;
  measurement.model_seconds = statistics.model_seconds;
  measurement.probation_seconds = statistics.probation_seconds;
  measurement.timing_seconds = statistics.timing_seconds;
  measurement.furnishing_seconds = statistics.furnishing_seconds;
  measurement.profiling_seconds = statistics.profiling_seconds;
  measurement.waiting_seconds = statistics.waiting_seconds;
  measurement.profiled = statistics.profiled;
  measurement.exact_looks = statistics.exact_looks;
  measurement.no_counters = statistics.no_counters;
  return measurement;
}

void time_once_more(const MeasuringGpu& gpu, SearchOutcome& outcome, MeasuredAnswer& answer,
                    const Cancellation& interrupted) {
  auto measured = gpu.evaluator.measure_answer(outcome.best, interrupted);
  if (measured.ok()) {
    answer.measurement.speedup = std::move(*measured);
    // The search's own interval was too narrow.
    if (answer.measurement.speedup->cold.low <= 1.0)
      outcome.withdraw_claim(SpeedVerdict::ambiguous);
    return;
  }
  const gpu::Failure& failure = measured.error();
  // What went wrong now does not count, however well it did before.
  const bool machine = failure.final && failure.cuda == 0 && !failure.timeout;
  const bool withdrawn = !machine && !interrupted.requested();
  if (withdrawn) outcome.withdraw_claim(SpeedVerdict::ambiguous);
  answer.notes.push_back(fmt::format("the answer could not be measured once more{}: {}",
                                     withdrawn ? ", and is withdrawn" : "", failure.message));
}

void sanitize_once(const MeasuringGpu& gpu, SearchOutcome& outcome, MeasuredAnswer& answer,
                   const Cancellation& interrupted) {
  const char* const path = std::getenv("PATH");
  const auto program = gpu::find_sanitizer(gpu.cuda_root, path != nullptr ? path : "");
  if (!program) return;
  gpu::SanitizerConfig config;
  config.program = *program;
  SanitizerReport report = gpu.evaluator.sanitize_answer(outcome.best, config, interrupted);
  if (!report.findings.empty()) {
    outcome.withdraw_claim(SpeedVerdict::ambiguous);
    answer.notes.push_back("the answer is withdrawn: compute-sanitizer, " +
                           report.findings.front());
  }
  answer.measurement.sanitizer = std::move(report);
}

}  // namespace

MeasuredAnswer measure_answer(const MeasuringGpu& gpu, bool sanitize, SearchOutcome& outcome,
                              const Cancellation& interrupted) {
  MeasuredAnswer answer;
  answer.measurement = measurement_of(gpu);
  const auto claimed = [&] {
    return outcome.improved() && outcome.stopped != StopReason::cancelled &&
           !interrupted.requested();
  };
  if (claimed()) time_once_more(gpu, outcome, answer, interrupted);
  // Before other tools put the GPU to work.
  (void)gpu.disturbances.look(true);
  answer.measurement.disturbances = gpu.disturbances.seen();
  if (sanitize && claimed()) sanitize_once(gpu, outcome, answer, interrupted);
  answer.measurement.answer_seconds = gpu.evaluator.statistics().answer_seconds;
  return answer;
}

}  // namespace regraph
