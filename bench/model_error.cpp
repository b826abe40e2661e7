// The timing model against kernels that were measured on an H200: eight fp32 matrix products of
// 4096 x 4096, and 22 kernels that the rewriter made from the examples (bench/h200/measure
// measures those), the examples as they are, and the table of atomics. Prints predicted and
// measured times, the error of each, and what a prediction costs.
#include "base/files.h"
#include "eval/compile/compiler.h"
#include "eval/model/predict_time.h"
#include "kernel/manifest.h"
#include "model_error_atomics.h"
#include "source/clang_frontend.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

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
    signature.parameters.push_back({name, ScalarType::f32, true, std::string(name) != "c"});
  }
  signature.parameters.push_back({"n", ScalarType::i32, false, false, 0});
  return make_problem(*manifest, signature, kernel.file, source);
}

// What one row of the tables needs.
struct Row {
  std::string name;
  std::string block;
  double milliseconds;
};

class Comparison {
 public:
  Comparison(Compiler& compiler, const DeviceSpec& device) : compiler_(compiler), device_(device) {
    fmt::print("{:<24} {:<10} {:>10} {:>10} {:>8} {:>7}  {}\n", "kernel", "block", "measured",
               "predicted", "error", "wall", "limited by");
  }

  // Returns whether the kernel could be predicted.
  bool add(const Row& row, const Problem& problem) {
    CompileRequest request;
    request.source = problem.source;
    request.kernel = problem.signature.name;
    request.architecture = std::string(device_.architecture);
    const Cancellation never;
    auto compiled = compiler_.compile(request, never);
    if (!compiled) return complain(row, compiled.error().message);
    const auto start = std::chrono::steady_clock::now();
    const auto evaluation = predict_time(
        device_, problem, CompiledPlan::of(*compiled, problem.launch), problem.launch, never);
    const double wall =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (!evaluation) return complain(row, evaluation.error().message);
    const double predicted = 1e3 * evaluation->time.median_seconds;
    const double error = predicted / row.milliseconds - 1.0;
    total_error_ += std::abs(error);
    worst_error_ = std::max(worst_error_, std::abs(error));
    ++count_;
    fmt::print("{:<24} {:<10} {:>7.3f} ms {:>7.3f} ms {:>+7.1f}% {:>5.2f} s  {}\n", row.name,
               row.block, row.milliseconds, predicted, 100.0 * error, wall, evaluation->bottleneck);
    if (std::getenv("REGRAPH_MODEL_FACTS") != nullptr) {
      for (const auto& [fact, value] : evaluation->facts)
        fmt::print("    {:<36} {:.4g}\n", fact, value);
    }
    return true;
  }

  void summarise() const {
    fmt::print("mean absolute error {:.1f} %, worst {:.1f} %, {} kernels\n\n",
               100.0 * total_error_ / count_, 100.0 * worst_error_, count_);
  }

 private:
  static bool complain(const Row& row, const std::string& message) {
    std::fprintf(stderr, "%s: %s\n", row.name.c_str(), message.c_str());
    return false;
  }

  Compiler& compiler_;
  const DeviceSpec& device_;
  double total_error_ = 0.0;
  double worst_error_ = 0.0;
  int count_ = 0;
};

bool compare_matrix_products(Compiler& compiler, const DeviceSpec& device) {
  Comparison comparison(compiler, device);
  for (const Measured& kernel : kMeasured) {
    const std::string path = std::string(REGRAPH_SOURCE_DIR) + "/bench/h200/" + kernel.file + ".cu";
    auto source = read_file(path, 1 << 20);
    auto problem = source ? problem_of(kernel, *source) : Result<Problem>(source.error());
    if (!problem) {
      std::fprintf(stderr, "%s: %s\n", kernel.file, problem.error().message.c_str());
      return false;
    }
    if (!comparison.add({kernel.file, kernel.block, kernel.milliseconds}, *problem)) return false;
  }
  comparison.summarise();
  return true;
}

Result<Problem> candidate_problem(const std::string& base,
                                  const source::FrontEndConfiguration& front_end) {
  auto text = read_file(base + ".cu", 1 << 20);
  if (!text) return text.error();
  auto manifest = read_manifest(base + ".regraph.yaml");
  if (!manifest) return manifest.error();
  auto parsed = source::parse_kernel(*text, base + ".cu", manifest->kernel.value_or(""), front_end);
  if (!parsed) return parsed.error();
  return make_problem(*manifest, parsed->signature, base + ".cu", *text);
}

// Kernels that `list_path` names with their times; `base_of` gives their path without extension.
template <typename BaseOf>
bool compare_listed(Compiler& compiler, const DeviceSpec& device,
                    const source::FrontEndConfiguration& front_end, const std::string& list_path,
                    const BaseOf& base_of) {
  std::ifstream list(list_path);
  Comparison comparison(compiler, device);
  for (std::string line; std::getline(list, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream fields(line);
    Row row;
    fields >> row.name >> row.milliseconds;
    auto problem = candidate_problem(base_of(row.name), front_end);
    if (!problem) {
      std::fprintf(stderr, "%s: %s\n", row.name.c_str(), problem.error().message.c_str());
      return false;
    }
    const Dim3& block = problem->launch.launches.front().block;
    row.block = fmt::format("[{}, {}]", block.x, block.y);
    if (!comparison.add(row, *problem)) return false;
  }
  comparison.summarise();
  return true;
}

int run() {
  auto toolkit = find_cuda_toolkit();
  if (!toolkit) {
    std::fprintf(stderr, "%s\n", toolkit.error().message.c_str());
    return 1;
  }
  auto front_end = source::default_front_end(toolkit->root, "sm_90");
  if (!front_end) {
    std::fprintf(stderr, "%s\n", front_end.error().message.c_str());
    return 1;
  }
  CompilerConfiguration configuration;
  configuration.toolkit = *toolkit;
  configuration.worker = REGRAPH_COMPILE_WORKER;
  Compiler compiler(std::move(configuration));
  const DeviceSpec device = find_device("h200").value();
  const std::string root = REGRAPH_SOURCE_DIR;
  const std::string measured = root + "/bench/h200/";
  const bool done =
      compare_matrix_products(compiler, device) &&
      compare_listed(compiler, device, *front_end, measured + "candidates/measured.txt",
                     [&](const std::string& name) { return measured + "candidates/" + name; }) &&
      compare_listed(
          compiler, device, *front_end, measured + "examples.txt",
          [&](const std::string& name) { return root + "/examples/" + name + "/" + name; }) &&
      compare_atomics(compiler, device, measured);
  return done ? 0 : 1;
}

}  // namespace

int main() {
  return run();
}
