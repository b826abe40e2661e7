#include "rewrite/sample_kernels.h"

namespace regraph::test {
namespace {

constexpr const char* kMatrices = R"~(
sizes: {M: 96, N: 96, K: 64}
args:
  A: {dir: in, shape: [M, K]}
  B: {dir: in, shape: [K, N]}
  C: {dir: inout, shape: [M, N]}
launch: {block: [16, 16], grid: ["cdiv(N, bx)", "cdiv(M, by)"]}
tests: [{M: 70, N: 50, K: 45}, {M: 64, N: 96, K: 32}, {M: 1, N: 1, K: 1}]
)~";

constexpr const char* kRows = R"~(
sizes: {M: 3000, K: 1024}
args: {A: {dir: in, shape: [M, K]}, C: {dir: inout, shape: [M]}}
launch: {block: 64, grid: "cdiv(M, bx)"}
tests: [{M: 300, K: 45}, {M: 64, K: 32}, {M: 1, K: 1}]
)~";

constexpr const char* kRowsOut = R"~(
sizes: {M: 3000, K: 1024}
args: {A: {dir: in, shape: [M, K]}, C: {dir: out, shape: [M, K]}}
launch: {block: 64, grid: "cdiv(M, bx)"}
tests: [{M: 70, K: 300}, {M: 64, K: 32}, {M: 1, K: 1}]
)~";

constexpr const char* kVectors = R"~(
sizes: {n: 5000}
args: {a: {dir: in, shape: [n]}, b: {dir: inout, shape: [n]}}
launch: {block: 128, grid: "cdiv(n, bx)"}
tests: [{n: 5000}, {n: 1024}, {n: 1}]
)~";

constexpr const char* kFlatMatrix = R"~(
sizes: {h: 96, w: 128}
args: {a: {dir: in, shape: [h, w]}, b: {dir: in, shape: [w]}, c: {dir: out, shape: [h, w]}}
launch: {block: 128, grid: "cdiv(h * w, bx)"}
tests: [{h: 45, w: 70}, {h: 64, w: 32}, {h: 1, w: 1}]
)~";

constexpr const char* kChunks = R"~(
sizes: {n: 4096}
args: {x: {dir: in, shape: [n]}, y: {dir: inout, shape: [n]}}
launch: {block: 64, grid: "cdiv(n, 8 * bx)"}
tests: [{n: 1500}, {n: 1024}, {n: 1}]
)~";

}  // namespace

std::vector<SampleKernel> idiom_kernels() {
  return {
      {"product_in_memory", R"~(
__global__ void product(const float* A, const float* B, float* C, int M, int N, int K) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int k;
  if (row < M && col < N) {
    C[row * N + col] = 0.0f;
    for (k = 0; k < K; ++k) C[row * N + col] += A[row * K + k] * B[k * N + col];
  }
})~",
       kMatrices},
      {"product_in_memory_plain", R"~(
__global__ void product(const float* A, const float* B, float* C, int M, int N, int K) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < M && col < N) {
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
  }
})~",
       kMatrices},
      {"product_onto_memory", R"~(
__global__ void product(const float* A, const float* B, float* C, int M, int N, int K) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M || col >= N) return;
  int at = row * N + col;
  for (int k = 0; k < K; k++) C[at] = C[row * N + col] + A[row * K + k] * B[k * N + col];
})~",
       kMatrices},
      {"product_onto_memory_plain", R"~(
__global__ void product(const float* A, const float* B, float* C, int M, int N, int K) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M || col >= N) return;
  int at = row * N + col;
  float sum = 0 < K ? C[at] : 0.0f;
  for (int k = 0; k < K; k++) sum = sum + A[row * K + k] * B[k * N + col];
  if (0 < K) C[at] = sum;
})~",
       kMatrices},
      {"product_guarded_apart", R"~(
__global__ void product(const float* A, const float* B, float* C, int M, int N, int K) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < M && col < N) C[row * N + col] = 0.0f;
  for (int k = 0; k < K; ++k) {
    if (row < M && col < N) C[row * N + col] += A[row * K + k] * B[k * N + col];
  }
})~",
       kMatrices},
      {"product_guarded_apart_plain", R"~(
__global__ void product(const float* A, const float* B, float* C, int M, int N, int K) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0.0f;
  for (int k = 0; k < K; ++k) {
    if (row < M && col < N) sum += A[row * K + k] * B[k * N + col];
  }
  if (row < M && col < N) C[row * N + col] = sum;
})~",
       kMatrices},
      {"rows_onto_memory", R"~(
__global__ void rows(const float* A, float* C, int M, int K) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < M) {
    C[row] *= 0.5f;
    for (int k = 0; k < K; ++k) C[row] += A[row * K + k];
    C[row] = C[row] / K;
  }
})~",
       kRows},
      {"rows_onto_memory_plain", R"~(
__global__ void rows(const float* A, float* C, int M, int K) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < M) {
    float sum = C[row];
    sum *= 0.5f;
    for (int k = 0; k < K; ++k) sum += A[row * K + k];
    sum = sum / K;
    C[row] = sum;
  }
})~",
       kRows},
      {"rows_of_many_webs", R"~(
__global__ void rows(const float* A, float* C, int M, int K) {
  int row, i;
  float t, best, sum;
  row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < M) {
    best = -3.0e38f;
    for (i = 0; i < K; i++) {
      t = A[row * K + i];
      if (t > best) best = t;
    }
    sum = 0;
    for (i = 0; i < K; i++) {
      t = A[row * K + i] - best;
      sum += t * t;
    }
    i = 0;
    for (; i < K; i++) C[row * K + i] = A[row * K + i] / (1.0f + sum);
  }
})~",
       kRowsOut},
      {"rows_of_many_webs_plain", R"~(
__global__ void rows(const float* A, float* C, int M, int K) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < M) {
    float best = -3.0e38f;
    for (int i = 0; i < K; i++) {
      float t = A[row * K + i];
      if (t > best) best = t;
    }
    float sum = 0;
    for (int j = 0; j < K; j++) {
      float t = A[row * K + j] - best;
      sum += t * t;
    }
    for (int k = 0; k < K; k++) C[row * K + k] = A[row * K + k] / (1.0f + sum);
  }
})~",
       kRowsOut},
      {"rows_with_continue", R"~(
__global__ void rows(const float* A, float* C, int M, int K) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M) return;
  float sum = 0.0f;
  for (int k = 0; k < K; ++k) {
    if (A[row * K + k] < 0.0f) continue;
    sum += A[row * K + k];
  }
  C[row] = sum;
})~",
       kRows},
      {"rows_with_continue_plain", R"~(
__global__ void rows(const float* A, float* C, int M, int K) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M) return;
  float sum = 0.0f;
  for (int k = 0; k < K; ++k) {
    if (!(A[row * K + k] < 0.0f)) sum += A[row * K + k];
  }
  C[row] = sum;
})~",
       kRows},
      {"chosen_store", R"~(
__global__ void choose(const float* a, float* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    if (a[i] > 0.0f) b[i] = 2.0f * a[i];
    else b[i] = 0.0f;
  }
})~",
       kVectors},
      {"chosen_store_plain", R"~(
__global__ void choose(const float* a, float* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) b[i] = a[i] > 0.0f ? 2.0f * a[i] : 0.0f;
})~",
       kVectors},
      {"chosen_value", R"~(
__global__ void choose(const float* a, float* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float v;
    if (a[i] > 1.0f) v = 1.0f;
    else if (a[i] < -1.0f) v = -1.0f;
    else v = a[i];
    b[i] = v + b[i];
  }
})~",
       kVectors},
      {"chosen_value_plain", R"~(
__global__ void choose(const float* a, float* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    const float v = a[i] > 1.0f ? 1.0f : (a[i] < -1.0f ? -1.0f : a[i]);
    b[i] = v + b[i];
  }
})~",
       kVectors},
      {"border_returns", R"~(
__global__ void border(const float* a, float* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (a[i] < 0.0f) {
    b[i] = 0.0f;
    return;
  }
  b[i] = 1.0f + a[i];
})~",
       kVectors},
      {"border_returns_plain", R"~(
__global__ void border(const float* a, float* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) b[i] = a[i] < 0.0f ? 0.0f : 1.0f + a[i];
})~",
       kVectors},
      {"interior_and_border", R"~(
__global__ void smooth(const float* a, float* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (i == 0 || i == n - 1) {
    b[i] = a[i];
  } else {
    float sum = a[i - 1] + a[i + 1];
    b[i] = 0.25f * sum + 0.5f * a[i];
  }
})~",
       kVectors},
      {"interior_and_border_plain", R"~(
__global__ void smooth(const float* a, float* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float value;
  if (i == 0 || i == n - 1) {
    value = a[i];
  } else {
    float sum = a[i - 1] + a[i + 1];
    value = 0.25f * sum + 0.5f * a[i];
  }
  b[i] = value;
})~",
       kVectors},
      {"rows_return_early", R"~(
__global__ void rows(const float* A, float* C, int M, int K) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < M) {
    if (row % 3 == 0) {
      C[row] = 0.0f;
      return;
    }
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += A[row * K + k];
    C[row] = sum;
  }
})~",
       kRows},
      {"rows_return_early_plain", R"~(
__global__ void rows(const float* A, float* C, int M, int K) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < M) {
    if (row % 3 == 0) {
      C[row] = 0.0f;
    } else {
      float sum = 0.0f;
      for (int k = 0; k < K; ++k) sum += A[row * K + k];
      C[row] = sum;
    }
  }
})~",
       kRows},
      {"counts_by_hand", R"~(
__global__ void rows(const float* A, float* C, int M, int K) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < M) {
    float sum = 0.0f;
    int k = 0;
    for (;;) {
      if (!(k < K)) break;
      float value = A[row * K + k];
      sum = sum + value;
      k = k + 1;
    }
    C[row] = sum;
  }
})~",
       kRows},
      {"counts_by_hand_plain", R"~(
__global__ void rows(const float* A, float* C, int M, int K) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < M) {
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += A[row * K + k];
    C[row] = sum;
  }
})~",
       kRows},
      {"counts_while", R"~(
__global__ void rows(const float* A, float* C, int M, int K) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M) return;
  int k = 0;
  float sum = 0.0f;
  while (k < K) {
    sum += A[row * K + k] * 2;
    k++;
  }
  C[row] = sum;
})~",
       kRows},
      {"counts_while_plain", R"~(
__global__ void rows(const float* A, float* C, int M, int K) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M) return;
  float sum = 0.0f;
  for (int k = 0; k < K; ++k) sum += A[row * K + k] * 2;
  C[row] = sum;
})~",
       kRows},
      {"rows_unrolled", R"~(
__global__ void rows(const float* A, float* C, int M, int K) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M) return;
  int base = row * K;
  float sum = 0.0f;
  int k = 0;
  for (;;) {
    if (k + 3 >= K) break;
    float t0 = A[base + k];
    float t1 = A[base + k + 1];
    float t2 = A[base + k + 2];
    float t3 = A[base + k + 3];
    sum = sum + t0;
    sum = sum + t1;
    sum = sum + t2;
    sum = sum + t3;
    k = k + 4;
  }
  for (;;) {
    if (k >= K) break;
    sum = sum + A[base + k];
    k = k + 1;
  }
  C[row] = sum;
})~",
       kRows},
      {"rows_unrolled_plain", R"~(
__global__ void rows(const float* A, float* C, int M, int K) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M) return;
  int base = row * K;
  float sum = 0.0f;
  for (int k = 0; k < K; ++k) sum = sum + A[base + k];
  C[row] = sum;
})~",
       kRows},
      {"rows_partial_sums", R"~(
__global__ void rows(const float* A, float* C, int M, int K) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M) return;
  float s0 = 0.0f, s1 = 0.0f;
  int whole = K / 2 * 2;
  for (int k = 0; k < whole; k += 2) {
    s0 += A[row * K + k] * A[row * K + k];
    s1 += A[row * K + k + 1] * A[row * K + k + 1];
  }
  float sum = s0 + s1;
  for (int k = whole; k < K; ++k) sum += A[row * K + k] * A[row * K + k];
  C[row] = sum;
})~",
       kRows},
      {"rows_partial_sums_plain", R"~(
__global__ void rows(const float* A, float* C, int M, int K) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M) return;
  float sum = 0.0f;
  for (int k = 0; k < K; ++k) sum += A[row * K + k] * A[row * K + k];
  C[row] = sum;
})~",
       kRows},
      {"rows_by_flat_counter", R"~(
__global__ void rows(const float* A, float* C, int M, int K) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M) return;
  float sum = 0.0f;
  int at = row * K;
  int end = at + K;
  for (;;) {
    if (at >= end) break;
    sum = sum + A[at] * 2.0f;
    at = at + 1;
  }
  C[row] = sum;
})~",
       kRows},
      {"rows_by_flat_counter_plain", R"~(
__global__ void rows(const float* A, float* C, int M, int K) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M) return;
  float sum = 0.0f;
  for (int k = 0; k < K; ++k) sum = sum + A[row * K + k] * 2.0f;
  C[row] = sum;
})~",
       kRows},
      {"flat_matrix", R"~(
__global__ void bias(const float* a, const float* b, float* c, int h, int w) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < h * w) {
    int y = i / w;
    int x = i % w;
    c[y * w + x] = a[y * w + x] * 2.0f + b[x];
  }
})~",
       kFlatMatrix},
      {"flat_matrix_plain", R"~(
__global__ void bias(const float* a, const float* b, float* c, int h, int w) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < h * w) c[i] = a[i] * 2.0f + b[i % w];
})~",
       kFlatMatrix},
      {"chunk_up_to_a_limit", R"~(
__global__ void chunks(const float* x, float* y, int n) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  int begin = t * 8;
  int end = begin + 8;
  if (end > n) end = n;
  int i = begin;
  for (;;) {
    if (!(i < end)) break;
    float v = y[i];
    y[i] = v + 2.0f * x[i];
    i++;
  }
})~",
       kChunks},
      {"chunk_up_to_a_limit_plain", R"~(
__global__ void chunks(const float* x, float* y, int n) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < 8; ++k)
    if (t * 8 + k < n) y[t * 8 + k] = y[t * 8 + k] + 2.0f * x[t * 8 + k];
})~",
       kChunks},
  };
}

}  // namespace regraph::test
