// What is done on the GPU once a search is over, before its claim stands.
#pragma once

#include "base/cancellation.h"
#include "eval/gpu/driver/gpu_disturbances.h"
#include "eval/gpu/gpu_evaluator.h"
#include "report/run_report.h"
#include "search/outcome.h"

#include <filesystem>
#include <string>
#include <vector>

namespace regraph {

struct MeasuredAnswer {
  Measurement measurement;
  std::vector<std::string> notes;  // for people
};

// What measured, and what it measured on.
struct MeasuringGpu {
  gpu::GpuEvaluator& evaluator;
  const gpu::DeviceProperties& properties;
  gpu::DisturbanceLog& disturbances;
  std::filesystem::path cuda_root;  // where compute-sanitizer may be
};

// How the GPU was used. A faster kernel is timed once more beside the original and, with `sanitize`
// and where it is installed, launched under compute-sanitizer; what does not bear the claim out
// withdraws it from `outcome`. The search must be over.
[[nodiscard]] MeasuredAnswer measure_answer(const MeasuringGpu& gpu, bool sanitize,
                                            SearchOutcome& outcome,
                                            const Cancellation& interrupted);

}  // namespace regraph
