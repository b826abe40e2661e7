// A run's outcome for the report's tests, as a search would leave it.
#pragma once

#include "eval/model/device.h"
#include "kernel/manifest.h"
#include "report/run_report.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace regraph::test {

inline const char* const kOriginal =
    "__global__ void scale(const float* in, float* out, int n) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < n) out[i] = 2.0f * in[i];\n"
    "}\n";
inline const char* const kFaster =
    "__global__ void scale(const float* __restrict__ in, float* out, int n) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < n) out[i] = 2.0f * in[i];\n"
    "}\n";

inline TimeEstimate predicted_time(double seconds) {
  return {seconds, 0.8 * seconds, 1.2 * seconds, 1, TimeMethod::predicted};
}

// Owns what a RunReport refers to.
class Run {
 public:
  explicit Run(bool improved) {
    const auto manifest = parse_manifest(
        "sizes: {n: 1024}\nargs: {in: {shape: [n]}, out: {dir: out, shape: [n]}}\n"
        "launch: {block: 256, grid: \"cdiv(n, bx)\"}\ntests: [{n: 100}]\n",
        "scale.regraph.yaml");
    EXPECT_TRUE(manifest.ok());
    const KernelSignature signature = {"scale",
                                       {{"in", ScalarType::f32, true, true, 1},
                                        {"out", ScalarType::f32, true, false, 1},
                                        {"n", ScalarType::i32, false, false, 1}}};
    auto made = make_problem(*manifest, signature, "examples/scale.cu", kOriginal);
    EXPECT_TRUE(made.ok());
    problem = std::move(*made);
    config.seed = 7;
    outcome.baseline_evaluation.verdict = Verdict::correct;
    outcome.baseline_evaluation.time = predicted_time(1e-3);
    outcome.baseline_evaluation.bottleneck = "DRAM bandwidth";
    outcome.baseline_evaluation.facts["occupancy"] = 0.5;
    outcome.best.source = kOriginal;
    outcome.best.plan = problem.launch;
    outcome.best_evaluation = outcome.baseline_evaluation;
    outcome.evaluations = 12;
    outcome.verdict_counts[static_cast<std::size_t>(Verdict::correct)] = 9;
    outcome.verdict_counts[static_cast<std::size_t>(Verdict::wrong_result)] = 3;
    outcome.wall_seconds = 1.25;
    outcome.sitting_seconds = 1.25;
    outcome.busy_seconds = 3.75;
    outcome.work_ahead.evaluations = 7;
    outcome.work_ahead.evaluations_used = 5;
    if (improved) improve();
  }

  void improve() {
    outcome.verdict = SpeedVerdict::fast;
    outcome.confirmed = true;
    outcome.log_speedup = std::log(4.0);
    outcome.best.source = kFaster;
    outcome.best.assumptions = {"buffers do not overlap"};
    outcome.best.plan.launches.front().block = {128, 1, 1};
    outcome.best_evaluation.time = predicted_time(0.25e-3);
    outcome.best_evaluation.roofline_seconds = 0.2e-3;
    outcome.path = {{1, {"restrict_ldg", {}, 1}, 0, std::log(2.0)},
                    {2, {"block_size", {{"x", "128"}}, 1}, 0, std::log(2.0)}};
  }

  [[nodiscard]] RunReport report(std::string directory = "out") const {
    return {problem,
            outcome,
            config,
            *find_device("h200"),
            "model",
            std::move(directory),
            "against the original",
            true,
            ""};
  }

  Problem problem;
  SearchOutcome outcome;
  SearchConfig config;
};

}  // namespace regraph::test
