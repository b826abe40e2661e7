// A problem to make prompts of and to read answers about: the naive matrix product.
#pragma once

#include "kernel/manifest.h"
#include "llm/prompt/prompt_inputs.h"

#include <string>

namespace regraph::llm::sample {

inline const std::string kSource = R"cuda(// One thread an element of C.
__global__ void sgemm(int M, int N, int K, float alpha, const float* A, const float* B, float beta,
                      float* C) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  int col = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < M && col < N) {
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) {
      sum += A[row * K + k] * B[k * N + col];
    }
    C[row * N + col] = alpha * sum + beta * C[row * N + col];
  }
}
)cuda";

// The same with the thread axes exchanged.
inline const std::string kSwapped = R"cuda(// One thread an element of C.
__global__ void sgemm(int M, int N, int K, float alpha, const float* A, const float* B, float beta,
                      float* C) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < M && col < N) {
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) {
      sum += A[row * K + k] * B[k * N + col];
    }
    C[row * N + col] = alpha * sum + beta * C[row * N + col];
  }
}
)cuda";

// C = transposed(A) * B, A of K x M, before and after it is tiled.
inline const std::string kExampleBefore =
    R"cuda(__global__ void matmul_tn(int M, int N, int K, const float* A, const float* B, float* C) {
  int row = blockIdx.y * 16 + threadIdx.y;
  int col = blockIdx.x * 16 + threadIdx.x;
  if (row < M && col < N) {
    float sum = 0.0f;
    for (int k = 0; k < K; ++k)
      sum += A[k * M + row] * B[k * N + col];
    C[row * N + col] = sum;
  }
}
)cuda";
inline const std::string kExampleAfter =
    R"cuda(__global__ void matmul_tn(int M, int N, int K, const float* A, const float* B, float* C) {
  __shared__ float a[16][16];
  __shared__ float b[16][16];
  int row = blockIdx.y * 16 + threadIdx.y;
  int col = blockIdx.x * 16 + threadIdx.x;
  int a_row = blockIdx.y * 16 + threadIdx.x;
  float sum = 0.0f;
  for (int first = 0; first < K; first += 16) {
    int k = first + threadIdx.y;
    a[threadIdx.y][threadIdx.x] = k < K && a_row < M ? A[k * M + a_row] : 0.0f;
    b[threadIdx.y][threadIdx.x] = k < K && col < N ? B[k * N + col] : 0.0f;
    __syncthreads();
    for (int d = 0; d < 16; ++d)
      sum += a[d][threadIdx.y] * b[d][threadIdx.x];
    __syncthreads();
  }
  if (row < M && col < N) C[row * N + col] = sum;
}
)cuda";

inline const std::string kSwappedLaunch =
    R"x({"block": [32, 8, 1], "grid": ["cdiv(N, bx)", "cdiv(M, by)", "1"], "smem": "0"})x";

inline Problem problem() {
  const auto manifest = parse_manifest(R"yaml(sizes: {M: 4096, N: 4096, K: 4096}
args:
  A: {dir: in, shape: [M, K]}
  B: {dir: in, shape: [K, N]}
  C: {dir: inout, shape: [M, N]}
  alpha: 1.5
  beta: 0.5
launch: {block: [32, 8], grid: ["cdiv(M, bx)", "cdiv(N, by)"]}
tests: [{M: 70, N: 50, K: 45}, {M: 128, N: 128, K: 64}, {M: 1, N: 1, K: 1}]
counters: {flops: 2*M*N*K, bytes: 4*(M*K + K*N + 2*M*N)}
)yaml",
                                       "sgemm.regraph.yaml");
  const Parameter size{.name = "", .type = ScalarType::i32};
  const auto named = [](Parameter parameter, const char* name) {
    parameter.name = name;
    return parameter;
  };
  const Parameter number{.name = "", .type = ScalarType::f32};
  const Parameter input{
      .name = "", .type = ScalarType::f32, .is_pointer = true, .points_to_const = true};
  const Parameter output{.name = "", .type = ScalarType::f32, .is_pointer = true};
  const KernelSignature signature = {
      "sgemm",
      {named(size, "M"), named(size, "N"), named(size, "K"), named(number, "alpha"),
       named(input, "A"), named(input, "B"), named(number, "beta"), named(output, "C")}};
  return *make_problem(*manifest, signature, "sgemm.cu", kSource);
}

inline Candidate candidate(const Problem& problem, const std::string& source = kSource) {
  Candidate result;
  result.source = source;
  result.plan = problem.launch;
  return result;
}

// Figures as the model predicts them for an H200.
inline Evaluation evaluation() {
  Evaluation result;
  result.verdict = Verdict::correct;
  result.time = {0.272, 0.190, 0.353, 1, TimeMethod::predicted};
  result.roofline_seconds = 2.05e-3;
  result.bottleneck = "L1 and shared-memory pipe";
  result.facts = {{"global_load_sectors_per_request", 16.5},
                  {"global_store_sectors_per_request", 32.0},
                  {"global_load_sectors_over_ideal", 6.6},
                  {"global_store_sectors_over_ideal", 8.0},
                  {"dram_utilization", 0.004},
                  {"issue_utilization", 0.061},
                  {"lsu_utilization", 0.97},
                  {"l1_hit_rate", 0.94},
                  {"occupancy", 1.0},
                  {"registers_per_thread", 32.0},
                  {"shared_bytes_per_block", 0.0},
                  {"roofline_fraction", 0.0075},
                  {"limited_by_warps", 1.0},
                  {"waves", 62.1}};
  return result;
}

inline PromptDevice device() {
  return {.name = "NVIDIA H200 SXM",
          .architecture = "sm_90",
          .sm_count = 132,
          .shared_bytes_per_block = 232448,
          .shared_bytes_per_sm = 233472,
          .registers_per_sm = 65536,
          .max_threads_per_sm = 2048,
          .l2_bytes = 50 << 20,
          .dram_bytes_per_second = 4.25e12,
          .peak_fp32_flops = 66.9e12};
}

}  // namespace regraph::llm::sample
