// What one candidate costs before it is timed: compiling (a fresh worker process each), a cache
// hit, and verifying a tiled matrix product at the default small sizes and at the bench size.
#include "base/files.h"
#include "eval/compile/compiler.h"
#include "eval/verify/verifier.h"
#include "kernel/manifest.h"

#include <benchmark/benchmark.h>

#include <optional>
#include <string>
#include <utility>

namespace {

using namespace regraph;

constexpr const char* kNaive = R"cuda(
__global__ void k(const float* A, const float* B, float* C, int M, int N, int K) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < M && col < N) {
    float sum = 0.0f;
    for (int i = 0; i < K; ++i) sum += A[row * K + i] * B[i * N + col];
    C[row * N + col] = sum;
  }
}
)cuda";

constexpr const char* kTiled = R"cuda(
__global__ void k(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float a[16][16];
  __shared__ float b[16][16];
  int tx = threadIdx.x, ty = threadIdx.y;
  int col = blockIdx.x * 16 + tx, row = blockIdx.y * 16 + ty;
  float sum = 0.0f;
  for (int t = 0; t < K; t += 16) {
    a[ty][tx] = (row < M && t + tx < K) ? A[row * K + t + tx] : 0.0f;
    b[ty][tx] = (t + ty < K && col < N) ? B[(t + ty) * N + col] : 0.0f;
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum += a[ty][i] * b[i][tx];
    __syncthreads();
  }
  if (row < M && col < N) C[row * N + col] = sum;
}
)cuda";

constexpr const char* kManifest = R"yaml(
sizes: {M: 4096, N: 4096, K: 4096}
args: {A: {shape: [M, K]}, B: {shape: [K, N]}, C: {dir: out, shape: [M, N]}}
launch: {block: [16, 16], grid: ["cdiv(N, bx)", "cdiv(M, by)"]}
)yaml";

CompilerConfiguration configuration_with(const std::filesystem::path& cache) {
  CompilerConfiguration configuration;
  configuration.toolkit = find_cuda_toolkit().value();
  configuration.worker = REGRAPH_COMPILE_WORKER;
  configuration.cache_directory = cache;
  return configuration;
}

CompileRequest request(const char* source) {
  CompileRequest request;
  request.source = source;
  request.kernel = "k";
  request.architecture = "sm_90";
  return request;
}

void compile_in_a_worker(benchmark::State& state) {
  Compiler compiler(configuration_with({}));
  const Cancellation never;
  for (auto _ : state) {
    const auto kernel = compiler.compile(request(kTiled), never);
    if (!kernel.ok()) state.SkipWithError(kernel.error().message.c_str());
  }
}
BENCHMARK(compile_in_a_worker)->Unit(benchmark::kMillisecond)->UseRealTime();

// The same kernel, and with a header that only nvcc takes in front of it.
void compile_with_nvcc(benchmark::State& state, const char* header) {
  const auto compiler = Compiler(configuration_with({})).with_nvcc();
  if (!compiler) return state.SkipWithError("there is no nvcc");
  const std::string source = std::string(header) + kTiled;
  const Cancellation never;
  for (auto _ : state) {
    const auto kernel = compiler->compile(request(source.c_str()), never);
    if (!kernel.ok()) state.SkipWithError(kernel.error().message.c_str());
  }
}
BENCHMARK_CAPTURE(compile_with_nvcc, plain, "")->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(compile_with_nvcc, vector, "#include <vector>\n")
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(compile_with_nvcc, thrust_sort, "#include <thrust/sort.h>\n")
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

void compile_from_the_cache(benchmark::State& state) {
  const auto directory = TemporaryDirectory::create("regraph-bench-");
  Compiler compiler(configuration_with(directory->path()));
  const Cancellation never;
  for (auto _ : state) {
    const auto kernel = compiler.compile(request(kTiled), never);
    if (!kernel.ok()) state.SkipWithError(kernel.error().message.c_str());
  }
}
BENCHMARK(compile_from_the_cache)->Unit(benchmark::kMillisecond)->UseRealTime();

// A product, its original and a candidate, compiled.
struct Product {
  std::optional<Problem> problem;
  std::optional<CompiledKernel> original;
  std::optional<CompiledKernel> candidate;
  [[nodiscard]] bool complete() const { return problem && original && candidate; }
};

Product matrix_product() {
  Compiler compiler(configuration_with({}));
  const Cancellation never;
  Parameter pointer{"A", ScalarType::f32, true, true, 1};
  KernelSignature signature{"k", {pointer, pointer, pointer}};
  signature.parameters[1].name = "B";
  signature.parameters[2].name = "C";
  signature.parameters[2].points_to_const = false;
  for (const char* size : {"M", "N", "K"}) {
    signature.parameters.push_back({size, ScalarType::i32, false, false, 1});
  }
  Product product;
  auto problem = make_problem(*parse_manifest(kManifest, "bench"), signature, "k.cu", kNaive);
  if (problem.ok()) product.problem = *std::move(problem);
  auto original = compiler.compile(request(kNaive), never);
  if (original.ok()) product.original = *std::move(original);
  auto candidate = compiler.compile(request(kTiled), never);
  if (candidate.ok()) product.candidate = *std::move(candidate);
  return product;
}

void verify_a_matrix_product(benchmark::State& state) {
  const Product product = matrix_product();
  if (!product.complete()) {
    state.SkipWithError("the kernels did not compile");
    return;
  }
  const Cancellation never;
  const LaunchPlan& launches = product.problem->launch;
  Verifier verifier(*product.problem, *product.original);
  double instructions = 0.0;
  for (auto _ : state) {
    const VerificationResult result = verifier.verify(*product.candidate, launches, 1, never);
    if (!result.correct()) state.SkipWithError(result.message.c_str());
    instructions += static_cast<double>(result.thread_instructions);
  }
  state.counters["thread_instructions"] =
      benchmark::Counter(instructions, benchmark::Counter::kIsRate);
}
BENCHMARK(verify_a_matrix_product)->Unit(benchmark::kMillisecond)->UseRealTime();

// The stage at the bench size, 4096 x 4096 x 4096, of which blocks are compared: for the first
// candidate, so with what it wants to know of the original. Arguments: as for a finalist, threads.
void verify_a_matrix_product_at_the_bench_size(benchmark::State& state) {
  const Product product = matrix_product();
  if (!product.complete()) {
    state.SkipWithError("the kernels did not compile");
    return;
  }
  const Cancellation never;
  const LaunchPlan& launches = product.problem->launch;
  const auto effort = state.range(0) != 0 ? EvaluationBudget::Effort::confirmation
                                          : EvaluationBudget::Effort::screening;
  for (auto _ : state) {
    state.PauseTiming();
    Verifier verifier(*product.problem, *product.original);
    verifier.threads().limit(static_cast<int>(state.range(1)));
    const ThreadBudget::Share calling = verifier.threads().enter();
    const auto prepared =
        verifier.prepare(CompiledPlan::of(*product.candidate, launches), launches);
    const VerificationResult tested = verifier.verify(**prepared, 1, never);
    state.ResumeTiming();
    const VerificationResult result = verifier.verify_bench(**prepared, tested, 1, effort, never);
    if (!result.correct()) state.SkipWithError(result.message.c_str());
  }
}
BENCHMARK(verify_a_matrix_product_at_the_bench_size)
    ->ArgsProduct({{0, 1}, {1, 2}})
    ->ArgNames({"finalist", "threads"})
    ->Unit(benchmark::kMillisecond)
    ->MeasureProcessCPUTime()
    ->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
