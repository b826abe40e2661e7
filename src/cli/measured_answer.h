// What is done on the GPU once a search is over, before its claim stands.
#pragma once

#include "base/cancellation.h"
#include "cli/search_setup.h"
#include "eval/gpu/driver/gpu_disturbances.h"
#include "report/run_report.h"
#include "search/outcome.h"

#include <string>
#include <vector>

namespace regraph::cli {

struct MeasuredAnswer {
  Measurement measurement;
  std::vector<std::string> notes;  // for people
};

// How the GPU was used. A faster kernel is timed once more beside the original and, with `sanitize`
// and where it is installed, launched under compute-sanitizer; what does not bear the claim out
// withdraws it from `outcome`. `gpus` are looked at once more. `setup` must have a GPU evaluator,
// and its search be over.
[[nodiscard]] MeasuredAnswer measure_answer(const SearchSetup& setup, bool sanitize,
                                            SearchOutcome& outcome, gpu::DisturbanceLog& gpus,
                                            const Cancellation& interrupted);

}  // namespace regraph::cli
