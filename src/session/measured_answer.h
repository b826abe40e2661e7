// What is done on the GPU once a search is over, before its claim stands.
#pragma once

#include "base/cancellation.h"
#include "eval/gpu/driver/gpu_disturbances.h"
#include "eval/gpu/gpu_evaluator.h"
#include "kernel/candidate.h"
#include "kernel/measurement.h"

#include <filesystem>

namespace regraph {

// What measured, and what it measured on.
struct MeasuringGpu {
  gpu::GpuEvaluator& evaluator;
  const gpu::DeviceProperties& properties;
  gpu::DisturbanceLog& disturbances;
  std::filesystem::path cuda_root;  // where compute-sanitizer may be
};

// How the GPU was used so far. While no evaluation runs.
[[nodiscard]] Measurement measurement_of(const MeasuringGpu& gpu);

// How the GPU was used. `answer`, where there is one, is timed once more beside the original and,
// with `sanitize` and where it is installed, launched under compute-sanitizer. The search must be
// over.
[[nodiscard]] AnswerTrial measure_answer(const MeasuringGpu& gpu, const Candidate* answer,
                                         bool sanitize, const Cancellation& interrupted);

}  // namespace regraph
