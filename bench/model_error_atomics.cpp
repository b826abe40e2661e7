#include "model_error_atomics.h"

#include "base/files.h"
#include "eval/model/predict_time.h"
#include "kernel/manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <vector>

namespace regraph {
namespace {

// Launches of bench/h200/atomics.cu.
constexpr int kThreads = 1 << 26;
constexpr int kThreadsThatMeet = 1 << 20;  // of single halves, on fewer counters than that many:
constexpr long kCountersThatMeet = 1 << 14;
constexpr int kSharedBlocks = 132 * 8 * 16;
constexpr double kSharedAtomics = kSharedBlocks * 256.0 * 64.0;

struct Column {
  std::string kernel;
  bool shared;
  ScalarType type;
  bool has_sink;
  int width = 1;  // elements of a vector; the table's counters and nanoseconds are of elements

  [[nodiscard]] int elements(long counters) const {
    const bool swaps = width == 1 && size_in_bytes(type) == 2;
    return swaps && counters < kCountersThatMeet ? kThreadsThatMeet : kThreads;
  }
};
const Column kGlobal[] = {{"random_global", false, ScalarType::u32, false},
                          {"indexed_global", false, ScalarType::u32, false},
                          {"random_global_float", false, ScalarType::f32, false},
                          {"returning_global", false, ScalarType::u32, true}};
const Column kShared[] = {{"increment_shared", true, ScalarType::u32, false},
                          {"value_shared", true, ScalarType::u32, false},
                          {"float_shared", true, ScalarType::u32, false},
                          {"returning_shared", true, ScalarType::u32, false},
                          {"none_shared", true, ScalarType::u32, false}};

// `place`: as the table's title has it: indexed, random, rows.
std::vector<Column> vector_columns(const std::string& place) {
  return {{place + "_float1", false, ScalarType::f32, false},
          {place + "_float2", false, ScalarType::f32, false, 2},
          {place + "_float4", false, ScalarType::f32, false, 4},
          {place + "_half1", false, ScalarType::f16, false},
          {place + "_half2", false, ScalarType::f16, false, 2},
          {place + "_bfloat1", false, ScalarType::bf16, false},
          {place + "_bfloat2", false, ScalarType::bf16, false, 2}};
}

Result<Problem> problem_of(const Column& column, long counters, const std::string& source) {
  const long threads = column.elements(counters) / column.width;
  const long vectors = std::max(counters / column.width, 1L);
  counters = vectors * column.width;
  KernelSignature signature;
  signature.name = column.kernel;
  signature.parameters.push_back({column.shared ? "out" : "counters", column.type, true, false});
  signature.parameters.push_back({"mask", ScalarType::u32, false, false});
  std::string arguments;
  std::string launch;
  if (column.shared) {
    arguments = fmt::format("{{out: {{dir: out, shape: [{}]}}}}", kSharedBlocks);
    launch = fmt::format("{{block: [256], grid: [{}], smem: {}}}", kSharedBlocks, 4 * counters);
  } else {
    signature.parameters.push_back({"n", ScalarType::u32, false, false});
    if (column.has_sink) signature.parameters.push_back({"sink", ScalarType::u32, true, false});
    arguments = fmt::format("{{counters: {{dir: inout, shape: [{}]}}{}}}", counters,
                            column.has_sink ? ", sink: {dir: out, shape: [1024]}" : "");
    launch = fmt::format("{{block: [256], grid: [{}]}}", threads / 256);
  }
  const std::string yaml = fmt::format("sizes: {{n: {}, mask: {}}}\nargs: {}\nlaunch: {}\n",
                                       threads, vectors - 1, arguments, launch);
  auto manifest = parse_manifest(yaml, column.kernel);
  if (!manifest) return manifest.error();
  return make_problem(*manifest, signature, column.kernel, source);
}

Result<double> nanoseconds(Compiler& compiler, const DeviceSpec& device, const Column& column,
                           long counters, const std::string& source) {
  auto problem = problem_of(column, counters, source);
  if (!problem) return problem.error();
  CompileRequest request;
  request.source = source;
  request.kernel = column.kernel;
  request.architecture = std::string(device.architecture);
  const Cancellation never;
  auto compiled = compiler.compile(request, never);
  if (!compiled) return compiled.error();
  const auto predicted = predict_time(
      device, *problem, CompiledPlan::of(*compiled, problem->launch), problem->launch, never);
  if (!predicted) {
    const bool unsupported = predicted.error().verdict == Verdict::unsupported;
    return fail(unsupported ? ErrorCode::unsupported : ErrorCode::invalid_argument,
                predicted.error().message);
  }
  return 1e9 * predicted->time.median_seconds /
         (column.shared ? kSharedAtomics : column.elements(counters));
}

}  // namespace

bool compare_atomics(Compiler& compiler, const DeviceSpec& device, const std::string& folder) {
  auto source = read_file(folder + "atomic_kernels.cuh", 1 << 20);
  auto table = read_file(folder + "atomics.txt", 1 << 20);
  if (!source || !table) {
    std::fprintf(stderr, "%s: no atomics\n", folder.c_str());
    return false;
  }
  std::istringstream lines(*table);
  std::vector<Column> columns;
  double sum = 0.0;
  double worst = 0.0;
  int count = 0;
  const auto summarise = [&] {
    if (count > 0) {
      fmt::print("mean absolute error {:.1f} %, worst {:.1f} %, {} entries\n\n",
                 100.0 * sum / count, 100.0 * worst, count);
    }
    sum = worst = 0.0;
    count = 0;
  };
  for (std::string line; std::getline(lines, line);) {
    if (line.find("counters") != std::string::npos) {
      summarise();
      std::string title = "global: random, indexed, float, returning";
      columns.assign(std::begin(kGlobal), std::end(kGlobal));
      if (line.find("shared") != std::string::npos) {
        title = "shared: increment, value, float, returning, none";
        columns.assign(std::begin(kShared), std::end(kShared));
      } else if (line.find("vectors") != std::string::npos) {
        const std::string place = line.substr(line.rfind(' ') + 1);
        title = "an element of vectors, " + place +
                ": float, float2, float4, half, half2, bfloat, bfloat2";
        columns = vector_columns(place);
      }
      fmt::print("{:>10}  ns an atomic, {}: measured, predicted, error\n", "counters", title);
      continue;
    }
    std::istringstream fields(line);
    long counters = 0;
    if (!(fields >> counters)) continue;
    std::string row = fmt::format("{:>10}", counters);
    for (const Column& column : columns) {
      double measured = 0.0;
      if (!(fields >> measured)) break;
      auto predicted = nanoseconds(compiler, device, column, counters, *source);
      if (!predicted && predicted.error().code == ErrorCode::unsupported) {
        row += fmt::format("  {:.5f} {:>7} {:>7}", measured, "-", "-");
        continue;
      }
      if (!predicted) {
        std::fprintf(stderr, "%s: %s\n", column.kernel.c_str(), predicted.error().message.c_str());
        return false;
      }
      const double error = *predicted / measured - 1.0;
      row += fmt::format("  {:.5f} {:.5f} {:>+6.1f}%", measured, *predicted, 100.0 * error);
      sum += std::abs(error);
      worst = std::max(worst, std::abs(error));
      ++count;
    }
    fmt::print("{}\n", row);
  }
  summarise();
  return true;
}

}  // namespace regraph
