#include "rewrite/sample_kernels.h"

namespace regraph::test {
namespace {

constexpr const char* kMatrixManifest = R"~(
sizes: {M: 96, N: 96, K: 64}
args:
  A: {dir: in, shape: [M, K]}
  B: {dir: in, shape: [K, N]}
  C: {dir: inout, shape: [M, N]}
launch: {block: [16, 16], grid: ["cdiv(N, bx)", "cdiv(M, by)"]}
tests: [{M: 70, N: 50, K: 45}, {M: 64, N: 96, K: 32}, {M: 1, N: 1, K: 1}]
)~";

constexpr const char* kVectorManifest = R"~(
sizes: {n: 5000}
args:
  a: {dir: in, shape: [n]}
  b: {dir: out, shape: [n]}
launch: {block: 128, grid: "cdiv(n, bx)"}
tests: [{n: 5000}, {n: 1024}, {n: 1}]
)~";

constexpr const char* kReductionManifest = R"~(
sizes: {n: 5000}
args:
  in: {dir: in, shape: [n]}
  out: {dir: out, shape: ["cdiv(n, 256)"]}
launch: {block: 256, grid: "cdiv(n, bx)"}
tests: [{n: 5000}, {n: 1024}, {n: 1}]
)~";

}  // namespace

std::vector<SampleKernel> plain_kernels() {
  return {
      {"matmul_guard", R"~(
__global__ void matmul(const float* A, const float* B, float* C, int M, int N, int K) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < M && col < N) {
    float sum = 0.0f;
    for (int k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
  }
})~",
       kMatrixManifest},
      {"product_of_any_precision", R"~(
__global__ void product(const float* A, const float* B, float* C, int M, int N, int K) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  const int col = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < M && col < N) {
    float sum = 0.0f;
    for (int k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = 1.5f * sum + 0.5f * C[row * N + col];
  }
})~",
       R"~(
sizes: {M: 256, N: 256, K: 256}
args: {A: {dir: in, shape: [M, K]}, B: {dir: in, shape: [K, N]}, C: {dir: inout, shape: [M, N]}}
launch: {block: [16, 16], grid: ["cdiv(M, bx)", "cdiv(N, by)"]}
assume: {noalias: true, reassociate: true, precision: any}
tests: [{M: 37, N: 50, K: 21}, {M: 64, N: 68, K: 32}, {M: 1, N: 1, K: 1}]
)~"},
      {"matmul_return_macro", R"~(
#define AT(p, i, j, ld) p[(i) * (ld) + (j)]
__global__ void matmul(const float* A, const float* B, float* C, int M, int N, int K) {
  size_t i = blockIdx.y * blockDim.y + threadIdx.y;
  size_t j = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= M || j >= N) return;
  float acc = 0.0f;
  for (int k = 0; k < K; ++k) { acc = acc + AT(A, i, k, K) * AT(B, k, j, N); }
  AT(C, i, j, N) = 2.0f * acc + AT(C, i, j, N);
})~",
       kMatrixManifest},
      {"matmul_swapped_axes", R"~(
__global__ void matmul(const float* A, const float* B, float* C, int M, int N, int K) {
  int r = threadIdx.x + blockDim.x * blockIdx.x, c = threadIdx.y + blockDim.y * blockIdx.y;
  if (c < N) {
    if (r < M) {
      float s = 0;
      for (int p = 0; p < K; ++p) s = fmaf(A[r * K + p], B[p * N + c], s);
      C[r * N + c] = s;
    }
  }
})~",
       R"~(
sizes: {M: 96, N: 96, K: 64}
args: {A: {dir: in, shape: [M, K]}, B: {dir: in, shape: [K, N]}, C: {dir: out, shape: [M, N]}}
launch: {block: [32, 8], grid: ["cdiv(M, bx)", "cdiv(N, by)"]}
tests: [{M: 70, N: 50, K: 45}, {M: 64, N: 96, K: 32}, {M: 1, N: 1, K: 1}]
)~"},
      {"matmul_transposed_operand", R"~(
__global__ void matmul(const double* A, const double* B, double* C, int M, int N, int K) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  double sum = 0.0;
  if (row < M && col < N) {
    for (int k = 0; k < K; ++k) sum += A[k * M + row] * B[col * K + k];
    C[row * N + col] -= sum;
  }
})~",
       R"~(
sizes: {M: 64, N: 64, K: 32}
args: {A: {dir: in, shape: [K, M]}, B: {dir: in, shape: [N, K]}, C: {dir: inout, shape: [M, N]}}
launch: {block: [16, 16], grid: ["cdiv(N, bx)", "cdiv(M, by)"]}
tests: [{M: 70, N: 50, K: 45}, {M: 32, N: 48, K: 16}, {M: 1, N: 1, K: 1}]
)~"},
      {"triangular_product", R"~(
__global__ void lower(const float* A, const float* B, float* C, int M, int N, int K) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < M && col < N) {
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) {
      if (k <= row) sum += A[row * K + k] * B[k * N + col];
    }
    C[row * N + col] = sum;
  }
})~",
       kMatrixManifest},
      {"distance_matrix", R"~(
__global__ void distances(const float* A, const float* B, float* C, int M, int N, int K) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < M && col < N) {
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) {
      float d = A[row * K + k] - B[k * N + col];
      sum += d * d;
    }
    C[row * N + col] = sum;
  }
})~",
       kMatrixManifest},
      {"max_plus_product", R"~(
__global__ void maxplus(const float* A, const float* B, float* C, int M, int N, int K) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < M && col < N) {
    float best = -1e30f;
    for (int k = 0; k < K; ++k) best = fmaxf(best, A[row * K + k] + B[k * N + col]);
    C[row * N + col] = best;
  }
})~",
       kMatrixManifest},
      {"transpose_return", R"~(
__global__ void transpose(const float* in, float* out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w) return;
  if (y >= h) return;
  out[x * h + y] = in[y * w + x] * 2.0f;
})~",
       R"~(
sizes: {w: 128, h: 96}
args: {in: {dir: in, shape: [h, w]}, out: {dir: out, shape: [w, h]}}
launch: {block: [16, 16], grid: ["cdiv(w, bx)", "cdiv(h, by)"]}
tests: [{w: 70, h: 45}, {w: 64, h: 32}, {w: 1, h: 1}]
)~"},
      {"gather_columns", R"~(
__global__ void gather(const float* in, float* out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < h && y < w) out[y * h + x] = in[x * w + y];
})~",
       R"~(
sizes: {w: 128, h: 96}
args: {in: {dir: in, shape: [h, w]}, out: {dir: out, shape: [w, h]}}
launch: {block: [16, 16], grid: ["cdiv(h, bx)", "cdiv(w, by)"]}
tests: [{w: 70, h: 45}, {w: 64, h: 32}, {w: 1, h: 1}]
)~"},
      {"saxpy_return", R"~(
__global__ void saxpy(const float* a, float* b, int n) {
  unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = a[i];
  b[i] = 2.5f * x + 1.0f;
})~",
       kVectorManifest},
      {"three_point_stencil", R"~(
__global__ void smooth(const float* a, float* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float left = i > 0 ? a[i - 1] : 0.0f;
    float right = i + 1 < n ? a[i + 1] : 0.0f;
    b[i] = 0.25f * left + 0.5f * a[i] + 0.25f * right;
  }
})~",
       kVectorManifest},
      {"window_sum", R"~(
__global__ void window(const float* a, float* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float sum = 0.0f;
    for (int j = 0; j < 8; ++j) {
      if (i + j < n) sum += a[i + j];
    }
    b[i] = sum;
  }
})~",
       kVectorManifest},
      {"power_iterations", R"~(
__global__ void iterate(const float* a, float* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float x = a[i];
    int step = 1;
    for (int k = 0; k < 5; ++k) {
      x = 0.5f * x + 0.25f * step;
      step += 2;
    }
    b[i] = x;
  }
})~",
       kVectorManifest},
      {"sum_sequential_tree", R"~(
__global__ void sum(const float* in, float* out, int n) {
  __shared__ float s[256];
  int t = threadIdx.x;
  int i = blockIdx.x * blockDim.x + t;
  s[t] = (i < n) ? in[i] : 0.0f;
  __syncthreads();
  for (int stride = blockDim.x / 2; stride > 0; stride >>= 1) {
    if (t < stride) s[t] += s[t + stride];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
})~",
       kReductionManifest},
      {"max_strided_index_tree", R"~(
__global__ void maximum(const float* in, float* out, int n) {
  __shared__ float s[256];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float mine = -3.0e38f;
  if (i < n) mine = in[i];
  s[threadIdx.x] = mine;
  __syncthreads();
  for (int stride = 1; stride < blockDim.x; stride *= 2) {
    int index = 2 * stride * threadIdx.x;
    if (index < blockDim.x) s[index] = fmaxf(s[index], s[index + stride]);
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = s[0];
})~",
       kReductionManifest},
      {"row_sums", R"~(
__global__ void rows(const float* A, float* C, int M, int K) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < M) {
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += A[row * K + k];
    C[row] = sum;
  }
})~",
       R"~(
sizes: {M: 3000, K: 1024}
args: {A: {dir: in, shape: [M, K]}, C: {dir: out, shape: [M]}}
launch: {block: 64, grid: "cdiv(M, bx)"}
tests: [{M: 300, K: 45}, {M: 64, K: 32}, {M: 1, K: 1}]
)~"},
      {"histogram_shared", R"~(
__global__ void histogram(const int* data, int* bins, int n) {
  __shared__ int local[32];
  if (threadIdx.x < 32) local[threadIdx.x] = 0;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&local[data[i] & 31], 1);
  __syncthreads();
  if (threadIdx.x < 32) atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
})~",
       R"~(
sizes: {n: 5000}
args:
  data: {dir: in, shape: [n], init: "int(0,31)"}
  bins: {dir: inout, shape: [32], init: "int(0,3)"}
launch: {block: 128, grid: "cdiv(n, bx)"}
tests: [{n: 5000}, {n: 1024}, {n: 1}]
)~"},
  };
}

const std::vector<SampleKernel>& sample_kernels() {
  static const std::vector<SampleKernel> kKernels = [] {
    std::vector<SampleKernel> all = plain_kernels();
    for (const auto& more :
         {row_kernels(), neighbourhood_kernels(), vector_window_kernels(), streaming_kernels(),
          idiom_kernels(), reading_kernels(), course_kernels(), scan_kernels(), loop_kernels(),
          production_kernels(), attention_kernels(), tiled_kernels(), record_kernels(),
          image_kernels(), narrow_kernels(), scatter_kernels()})
      all.insert(all.end(), more.begin(), more.end());
    return all;
  }();
  return kKernels;
}

}  // namespace regraph::test
