// The timing model against eight kernels that were measured on an H200: fp32 matrix products of
// 4096 x 4096, 4096^3 multiply-adds each. Prints predicted and measured times, the error of each, and
// what a prediction costs.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <string>

#include <fmt/format.h>

#include "base/files.h"
#include "eval/compile/compiler.h"
#include "eval/model/model_evaluator.h"
#include "eval/model/sampling.h"
#include "eval/model/timing_model.h"
#include "kernel/manifest.h"

namespace {

using namespace regraph;

struct Measured {
  const char* file;
  const char* block;  // as in a manifest
  const char* grid;
  double milliseconds;  // on one H200, driver 580, CUDA 13.0, 1.98 GHz
};

constexpr Measured kMeasured[] = {
    {"matmul_naive", "[32, 8]", "[\"cdiv(n, bx)\", \"cdiv(n, by)\"]", 23.57},
    {"matmul_naive", "[16, 16]", "[\"cdiv(n, bx)\", \"cdiv(n, by)\"]", 26.74},
    {"matmul_naive", "[32, 32]", "[\"cdiv(n, bx)\", \"cdiv(n, by)\"]", 22.96},
    {"matmul_naive", "[8, 32]", "[\"cdiv(n, bx)\", \"cdiv(n, by)\"]", 41.27},
    {"matmul_naive", "[1, 256]", "[\"cdiv(n, bx)\", \"cdiv(n, by)\"]", 271.7},
    {"matmul_tiled", "[32, 32]", "[\"cdiv(n, 32)\", \"cdiv(n, 32)\"]", 15.67},
    {"matmul_tiled_conflicts", "[32, 32]", "[\"cdiv(n, 32)\", \"cdiv(n, 32)\"]", 92.3},
    {"matmul_register_tiled", "[256]", "[\"cdiv(n, 128)\", \"cdiv(n, 128)\"]", 3.79},
};

constexpr int kSize = 4096;

Result<Problem> problem_of(const Measured& kernel, const std::string& source) {
  const std::string yaml = fmt::format(
      "sizes: {{n: {}}}\nargs: {{a: {{dir: in, shape: [n, n]}}, b: {{dir: in, shape: [n, n]}}, "
      "c: {{dir: out, shape: [n, n]}}}}\nlaunch: {{block: {}, grid: {}}}\n",
      kSize, kernel.block, kernel.grid);
  auto manifest = parse_manifest(yaml, kernel.file);
  if (!manifest) return manifest.error();
  KernelSignature signature;
  signature.name = "matmul";
  for (const char* name : {"a", "b", "c"}) {
    signature.parameters.push_back({name, ScalarType::f32, true, std::string(name) != "c", 0});
  }
  signature.parameters.push_back({"n", ScalarType::i32, false, false, 0});
  return make_problem(*manifest, signature, kernel.file, source);
}

int run() {
  auto toolkit = find_cuda_toolkit();
  if (!toolkit) {
    std::fprintf(stderr, "%s\n", toolkit.error().message.c_str());
    return 1;
  }
  CompilerConfiguration configuration;
  configuration.toolkit = *toolkit;
  configuration.worker = REGRAPH_COMPILE_WORKER;
  Compiler compiler(std::move(configuration));
  const DeviceSpec device = find_device("h200").value();
  const Cancellation never;
  fmt::print("{:<24} {:<9} {:>10} {:>10} {:>8} {:>9}  {}\n", "kernel", "block", "measured", "predicted",
             "error", "wall", "limited by");
  double total_error = 0.0;
  for (const Measured& kernel : kMeasured) {
    auto source = read_file(std::string(REGRAPH_SOURCE_DIR) + "/bench/h200/" + kernel.file + ".cu", 1 << 20);
    auto problem = source ? problem_of(kernel, *source) : Result<Problem>(source.error());
    if (!problem) {
      std::fprintf(stderr, "%s: %s\n", kernel.file, problem.error().message.c_str());
      return 1;
    }
    CompileRequest request;
    request.source = *source;
    request.kernel = "matmul";
    request.architecture = std::string(device.architecture);
    auto compiled = compiler.compile(request, never);
    if (!compiled) {
      std::fprintf(stderr, "%s: %s\n", kernel.file, compiled.error().message.c_str());
      return 1;
    }
    const auto start = std::chrono::steady_clock::now();
    const Evaluation evaluation = predict_time(device, *problem, *compiled, problem->launch, never);
    const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (!evaluation.correct()) {
      std::fprintf(stderr, "%s: %s\n", kernel.file, evaluation.message.c_str());
      return 1;
    }
    const double predicted = 1e3 * evaluation.time.median_seconds;
    const double error = predicted / kernel.milliseconds - 1.0;
    total_error += std::abs(error);
    fmt::print("{:<24} {:<9} {:>7.2f} ms {:>7.2f} ms {:>+7.1f}% {:>7.2f} s  {}\n", kernel.file, kernel.block,
               kernel.milliseconds, predicted, 100.0 * error, wall, evaluation.bottleneck);
    if (std::getenv("REGRAPH_MODEL_FACTS") != nullptr) {
      for (const auto& [fact, value] : evaluation.facts) fmt::print("    {:<36} {:.4g}\n", fact, value);
    }
  }
  fmt::print("mean absolute error {:.1f} %\n", 100.0 * total_error / std::size(kMeasured));
  return 0;
}

}  // namespace

int main() { return run(); }
