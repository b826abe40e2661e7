// Times kernels against themselves: how often is one called faster or slower than it is?
//
//   gpu_noise [TRIALS]     needs a GPU, regraph-eval and regraph-compile-worker beside it
//
// Eight kernels at seven sizes each, from launches of a few microseconds to milliseconds,
// each raced TRIALS times (default 2) against the same machine code, as a search races candidates.
// Prints a row a kernel and size, and how many verdicts were FAST or SLOW.
#include "eval/compile/compiled_plan.h"
#include "eval/gpu/driver/harness_kernels.h"
#include "eval/gpu/timing/timing_session.h"
#include "eval/verify/loaded_plan.h"
#include "kernel/manifest.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace regraph {
namespace {

struct Kernel {
  const char* name;
  const char* source;
  const char* launch;  // grid, as an expression of n
  std::vector<std::int64_t> sizes;
  std::int64_t rounds;  // a scalar that some kernels repeat their work by
};

constexpr const char* kSignature = "(const float* in, float* out, int n, int rounds)";

const std::vector<Kernel> kKernels = {
    {"copy",
     R"({
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
})",
     "cdiv(n, bx)",
     {10'000, 100'000, 1'000'000, 4'000'000, 16'000'000, 64'000'000, 200'000'000},
     1},
    {"stencil",
     R"({
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = i > 0 && i < n - 1 ? 0.25f * (in[i - 1] + 2.0f * in[i] + in[i + 1]) : in[i];
})",
     "cdiv(n, bx)",
     {20'000, 200'000, 2'000'000, 8'000'000, 32'000'000, 100'000'000, 200'000'000},
     1},
    {"strided",
     R"({
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[(long long)i * 33 % n];
})",
     "cdiv(n, bx)",
     {10'000, 100'000, 1'000'000, 4'000'000, 16'000'000, 64'000'000, 128'000'000},
     1},
    {"fma",
     R"({
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = in[i];
  for (int j = 0; j < rounds; ++j) x = x * 0.999f + 0.001f;
  out[i] = x;
})",
     "cdiv(n, bx)",
     {10'000, 50'000, 500'000, 2'000'000, 8'000'000, 32'000'000, 100'000'000},
     1000},
    {"divide",
     R"({
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = in[i];
  for (int j = 1; j <= rounds; ++j) x = 1.0f + x / (float)(j + 1);
  out[i] = x;
})",
     "cdiv(n, bx)",
     {10'000, 50'000, 500'000, 2'000'000, 8'000'000, 32'000'000, 64'000'000},
     100},
    {"shared",
     R"({
  __shared__ float tile[256];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = i < n ? in[i] : 0.0f;
  __syncthreads();
  float sum = 0.0f;
  for (int j = 0; j < rounds; ++j) sum += tile[(threadIdx.x * 7 + j) & 255];
  if (i < n) out[i] = sum;
})",
     "cdiv(n, bx)",
     {10'000, 50'000, 500'000, 2'000'000, 8'000'000, 32'000'000, 100'000'000},
     2560},
    {"serial rows",
     R"({
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n / 64) return;
  float sum = 0.0f;
  for (int j = 0; j < 64; ++j) sum += in[row * 64 + j];
  for (int j = 0; j < 64; ++j) out[row * 64 + j] = in[row * 64 + j] - sum;
})",
     "cdiv(n, 64 * bx)",
     {64'000, 256'000, 1'024'000, 4'096'000, 16'384'000, 65'536'000, 131'072'000},
     1},
    {"few blocks",
     R"({
  float x = 0.0f;
  for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += gridDim.x * blockDim.x) {
    x = x * 0.5f + in[i];
    out[i] = x;
  }
})",
     "16",
     {10'000, 50'000, 200'000, 1'000'000, 4'000'000, 16'000'000, 64'000'000},
     1},
};

struct Machine {
  std::unique_ptr<Compiler> compiler;
  gpu::GpuWorkerConfiguration worker;
  gpu::DeviceProperties device;
  Cancellation never;
};

Result<std::unique_ptr<Machine>> open_machine() {
  auto machine = std::make_unique<Machine>();
  const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  machine->worker.program = folder / "regraph-eval";
  auto device = gpu::probe_gpu(machine->worker.program, 0, machine->never);
  if (!device.ok()) return device.error();
  machine->device = *device;
  auto toolkit = find_cuda_toolkit();
  if (!toolkit.ok()) return toolkit.error();
  CompilerConfiguration configuration;
  configuration.toolkit = *toolkit;
  configuration.worker = folder / "regraph-compile-worker";
  machine->compiler = std::make_unique<Compiler>(configuration);
  auto harness =
      gpu::compile_harness(*machine->compiler, machine->device.architecture, machine->never);
  if (!harness.ok()) return harness.error();
  machine->worker.harness = std::move(*harness);
  return machine;
}

Result<Problem> problem_of(const Kernel& kernel, const std::string& source) {
  std::string yaml = fmt::format(
      "sizes: {{n: 1024, rounds: {0}}}\n"
      "args: {{in: {{shape: [n]}}, out: {{dir: out, shape: [n]}}}}\n"
      "launch: {{block: 256, grid: \"{1}\"}}\n"
      "tests: [{{n: 1024, rounds: {0}}}]\n"
      "bench: [",
      kernel.rounds, kernel.launch);
  for (const std::int64_t size : kernel.sizes)
    yaml += fmt::format("{}{{n: {}, rounds: {}}}", yaml.ends_with('[') ? "" : ", ", size,
                        kernel.rounds);
  yaml += "]\n";
  const auto manifest = parse_manifest(yaml, kernel.name);
  if (!manifest.ok()) return manifest.error();
  const KernelSignature signature{"k",
                                  {{"in", ScalarType::f32, true, true, 1},
                                   {"out", ScalarType::f32, true, false, 1},
                                   {"n", ScalarType::i32, false, false, 1},
                                   {"rounds", ScalarType::i32, false, false, 1}}};
  return make_problem(*manifest, signature, "k.cu", source);
}

Result<std::shared_ptr<const PreparedCandidate>> timed_kernel(Machine& machine,
                                                              const Problem& problem) {
  auto kernel = std::make_shared<PreparedCandidate>();
  auto compiled = compile_plan(*machine.compiler, problem.source, problem.launch,
                               machine.device.architecture, machine.never);
  if (!compiled.ok()) return compiled.error();
  kernel->compiled = std::move(*compiled);
  kernel->plan = problem.launch;
  auto loaded = verify::load_plan(kernel->compiled, kernel->plan);
  if (!loaded.ok()) return loaded.error();
  kernel->loaded = std::move(*loaded);
  return std::shared_ptr<const PreparedCandidate>(std::move(kernel));
}

struct Totals {
  int rows = 0;
  int verdicts = 0;
  std::map<std::string, int> words;
};

Status race_with_itself(Machine& machine, const Kernel& kernel, int trials, Totals& totals) {
  const std::string source = std::string("__global__ void k") + kSignature + " " + kernel.source;
  auto problem = problem_of(kernel, source);
  if (!problem.ok()) return problem.error();
  auto original = timed_kernel(machine, *problem);
  if (!original.ok()) return original.error();
  gpu::TimingConfig config;
  config.worker = machine.worker;
  config.seed = 1;
  config.test = problem->tests[0];
  gpu::TimingSession session(*problem, *original, config);
  auto baseline = session.race(*original, machine.never);
  if (!baseline.ok()) return fail(ErrorCode::io, baseline.error().message);
  std::vector<std::string> words(kernel.sizes.size());
  std::vector<double> noise = session.health().noise;
  for (int trial = 0; trial < trials; ++trial) {
    // Another module with the same machine code at another address.
    auto again = timed_kernel(machine, *problem);
    if (!again.ok()) return again.error();
    auto report = session.race(*again, machine.never);
    if (!report.ok()) return fail(ErrorCode::io, report.error().message);
    for (std::size_t b = 0; b < report->benches.size(); ++b) {
      const auto& race = report->benches[b].race;
      const std::string word = race.verdict ? name(race.verdict->word) : "none";
      ++totals.words[word];
      ++totals.verdicts;
      words[b] += (trial > 0 ? ", " : "") + word;
    }
  }
  for (std::size_t b = 0; b < kernel.sizes.size(); ++b) {
    const gpu::TimingSummary& summary = baseline->benches[b].race.candidate;
    fmt::print("{:<12} {:>11} {:>10.2f} us   noise {:>5.2f} %   spread {:>5.2f} %   {}\n",
               kernel.name, kernel.sizes[b], summary.median * 1e6, 100.0 * noise[b],
               100.0 * summary.robust_variation, words[b]);
    ++totals.rows;
  }
  std::fflush(stdout);
  return {};
}

int run(int trials) {
  auto machine = open_machine();
  if (!machine.ok()) {
    fmt::print(stderr, "gpu_noise: {}\n", machine.error().message);
    return 1;
  }
  fmt::print("{}, driver {}\n", (*machine)->device.name, (*machine)->device.driver_version);
  Totals totals;
  for (const Kernel& kernel : kKernels) {
    const Status status = race_with_itself(**machine, kernel, trials, totals);
    if (!status.ok()) {
      fmt::print(stderr, "gpu_noise: {}: {}\n", kernel.name, status.error().message);
      return 1;
    }
  }
  fmt::print("{} kernels and sizes, {} races:", totals.rows, totals.verdicts);
  for (const auto& [word, count] : totals.words)
    fmt::print(" {} {}", count, word);
  fmt::print("\n");
  return 0;
}

}  // namespace
}  // namespace regraph

int main(int argc, char** argv) {
  return regraph::run(argc > 1 ? std::max(1, std::atoi(argv[1])) : 2);
}
