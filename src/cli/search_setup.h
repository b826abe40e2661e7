// From a command line to everything a search needs: the problem, the original as a candidate, and
// the machinery that judges candidates.
#pragma once

#include "base/cancellation.h"
#include "cli/search_options.h"
#include "eval/compile/compiler.h"
#include "eval/evaluator.h"
#include "eval/gpu/gpu_evaluator.h"
#include "eval/model/device.h"
#include "eval/verify/verifier.h"
#include "kernel/candidate.h"
#include "kernel/problem.h"
#include "regraph/regraph.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace regraph::cli {

// Why a run cannot start: what to print and the exit code.
struct SetupFailure {
  int exit_code = 1;
  std::string message;
};

struct SearchSetup {
  DeviceSpec device;
  std::string device_table;  // text of the file it came from, else empty
  ReGraph graph;
  Problem problem;
  Candidate original;
  bool rewritable = false;
  std::vector<std::string> to_fill_in;  // --init: what could not be inferred, with the reason
  std::string opaque_reason;            // why not rewritable
  std::vector<std::string> warnings;    // of the original's verification
  std::unique_ptr<Compiler> compiler;
  std::unique_ptr<Verifier> verifier;
  std::unique_ptr<Evaluator> evaluator;
  std::string evaluator_name;                  // "model", "gpu", "gpu-only"
  std::optional<gpu::DeviceProperties> gpu;    // that measures
  std::vector<std::string> gpu_bus_ids;        // of all that measure
  std::filesystem::path cuda_root;             // of the toolkit
  gpu::GpuEvaluator* gpu_evaluator = nullptr;  // `evaluator`, when it measures
};

// Reads, compiles, parses and checks. `program` is the path this program was started by: the
// compile worker and the shipped graph are found beside it.
[[nodiscard]] std::variant<std::unique_ptr<SearchSetup>, SetupFailure> set_up_search(
    const SearchOptions& options, const std::string& program, const Cancellation& cancellation);

}  // namespace regraph::cli
