#include "rewrite/sample_kernels.h"

namespace regraph::test {

std::vector<SampleKernel> loop_kernels() {
  return {
      {"batched_products", R"~(
#define SIZE 8
__global__ void products(const float* A, const float* B, float* C, int batch) {
  int m = blockIdx.x * blockDim.x + threadIdx.x;
  if (m < batch) {
    for (int i = 0; i < SIZE; i++) {
      for (int j = 0; j < SIZE; j++) {
        float sum = 0.0f;
        for (int k = 0; k < SIZE; k++)
          sum += A[m * SIZE * SIZE + i * SIZE + k] * B[m * SIZE * SIZE + k * SIZE + j];
        C[m * SIZE * SIZE + i * SIZE + j] = sum;
      }
    }
  }
})~",
       R"~(
sizes: {batch: 512}
args:
  A: {dir: in, shape: [batch, 8, 8]}
  B: {dir: in, shape: [batch, 8, 8]}
  C: {dir: out, shape: [batch, 8, 8]}
launch: {block: 64, grid: "cdiv(batch, bx)"}
tests: [{batch: 37}, {batch: 64}, {batch: 1}]
)~"},
      {"flat_images", R"~(
__global__ void images(const float* in, float* out, int images, int height, int width) {
  int i = blockIdx.x * 128 + threadIdx.x;
  int count = images * height * width;
  if (i >= count) return;
  int x = i % width;
  int rows = i / width;
  int y = rows % height;
  int image = rows / height;
  float left = x > 0 ? in[i - 1] : 0.0f;
  float above = y > 0 ? in[i - width] : 0.0f;
  out[(image * width + x) * height + y] = in[i] - 0.5f * left - 0.25f * above;
})~",
       R"~(
sizes: {images: 6, height: 24, width: 40}
args:
  in: {dir: in, shape: [images, height, width]}
  out: {dir: out, shape: [images, width, height]}
launch: {block: 128, grid: "cdiv(images * height * width, bx)"}
tests: [{images: 3, height: 11, width: 21}, {images: 2, height: 16, width: 32}, {images: 1, height: 1, width: 1}]
)~"},
      {"sum_of_products", R"~(
__global__ void dot(const int* x, const int* y, int* total, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(total, x[i] * y[i]);
})~",
       R"~(
sizes: {n: 400000}
args:
  x: {dir: in, shape: [n]}
  y: {dir: in, shape: [n]}
  total: {dir: inout, shape: [1]}
launch: {block: 128, grid: "cdiv(n, bx)"}
tests: [{n: 5000}, {n: 8192}, {n: 1}]
)~"},
      {"flat_product", R"~(
__global__ void product(const float* A, const float* B, float* C, int M, int N, int K) {
  int v0 = blockIdx.x * blockDim.x + threadIdx.x;
  if (v0 >= M * N) return;
  int v1 = v0 / N;
  int v2 = v0 - v1 * N;
  float v3 = 0.0f;
  for (int v4 = 0; v4 < K; ++v4) v3 = v3 + A[v1 * K + v4] * B[v4 * N + v2];
  C[v0] = v3;
})~",
       R"~(
sizes: {M: 96, N: 96, K: 64}
args:
  A: {dir: in, shape: [M, K]}
  B: {dir: in, shape: [K, N]}
  C: {dir: out, shape: [M, N]}
launch: {block: 128, grid: "cdiv(M * N, bx)"}
tests: [{M: 70, N: 50, K: 45}, {M: 64, N: 96, K: 32}, {M: 1, N: 1, K: 1}]
)~"},
      {"unrolled_products", R"~(
__global__ void products(const float* A, const float* B, float* C, int batch) {
  int v0 = blockIdx.x * blockDim.x + threadIdx.x;
  if (v0 >= batch * 64) return;
  int v1 = v0 / 64;
  int v2 = v0 / 8 % 8;
  int v3 = v0 % 8;
  int v4 = v1 * 64 + v2 * 8;
  int v5 = v1 * 64 + v3;
  float v6 = A[v4] * B[v5];
  float v7 = v6 + A[v4 + 1] * B[v5 + 8];
  float v8 = v7 + A[v4 + 2] * B[v5 + 16];
  float v9 = v8 + A[v4 + 3] * B[v5 + 24];
  float v10 = A[v4 + 4] * B[v5 + 32];
  float v11 = v9 + v10;
  float v12 = v11 + A[v4 + 5] * B[v5 + 40];
  float v13 = v12 + A[v4 + 6] * B[v5 + 48];
  float v14 = v13 + A[v4 + 7] * B[v5 + 56];
  C[v0] = v14;
})~",
       R"~(
sizes: {batch: 2048}
args:
  A: {dir: in, shape: [batch, 8, 8]}
  B: {dir: in, shape: [batch, 8, 8]}
  C: {dir: out, shape: [batch, 8, 8]}
launch: {block: 64, grid: "cdiv(64 * batch, bx)"}
tests: [{batch: 5}, {batch: 16}, {batch: 1}]
)~"},
      {"product_of_digits", R"~(
__global__ void products(const float* A, const float* B, float* C) {
  const int row = threadIdx.y;
  const int column = threadIdx.x;
  float sum = 0.0f;
  for (int k = 0; k < 16; ++k)
    sum += A[blockIdx.x * 256 + row * 16 + k] * B[blockIdx.x * 256 + k * 16 + column];
  C[blockIdx.x * 256 + row * 16 + column] = sum;
})~",
       R"~(
sizes: {batch: 64}
args:
  A: {dir: in, shape: [batch, 16, 16]}
  B: {dir: in, shape: [batch, 16, 16]}
  C: {dir: out, shape: [batch, 16, 16]}
launch: {block: [16, 16], grid: batch}
tests: [{batch: 5}, {batch: 8}]
)~"},
      {"chunk_a_thread", R"~(
__global__ void chunks(const float* x, float* y, int n) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < 16; ++k) {
    int at = t * 16 + k;
    if (at < n) y[at] = sqrtf(x[at]) + 1.0f;
  }
})~",
       R"~(
sizes: {n: 4096}
args: {x: {dir: in, shape: [n], init: "uniform(0,4)"}, y: {dir: out, shape: [n]}}
launch: {block: 64, grid: "cdiv(n, 16 * bx)"}
tests: [{n: 1500}, {n: 1024}, {n: 1}]
)~"},
      {"row_scaled_by_a_thread", R"~(
__global__ void scale_rows(const float* A, const float* factor, float* B, unsigned int rows,
                           unsigned int cols) {
  size_t row = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float scale = factor[row];
  const float* from = A + row * cols;
  float* to = B + row * cols;
  for (unsigned int c = 0; c < cols; c++) to[c] = scale * from[c];
})~",
       R"~(
sizes: {rows: 96, cols: 80}
args:
  A: {dir: in, shape: [rows, cols]}
  factor: {dir: in, shape: [rows]}
  B: {dir: out, shape: [rows, cols]}
launch: {block: 32, grid: "cdiv(rows, bx)"}
tests: [{rows: 45, cols: 31}, {rows: 64, cols: 32}, {rows: 1, cols: 2}]
)~"},
      {"channels_of_a_pixel", R"~(
__global__ void gains(const float* in, const float* gain, float* out, int channels, int height,
                      int width) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) {
    float level = gain[y * width + x];
    for (int c = 0; c < channels; ++c)
      out[(c * height + y) * width + x] = level * in[(c * height + y) * width + x];
  }
})~",
       R"~(
sizes: {channels: 8, height: 32, width: 64}
args:
  in: {dir: in, shape: [channels, height, width]}
  gain: {dir: in, shape: [height, width]}
  out: {dir: out, shape: [channels, height, width]}
launch: {block: [16, 4], grid: ["cdiv(width, bx)", "cdiv(height, by)"]}
tests: [{channels: 3, height: 9, width: 21}, {channels: 4, height: 8, width: 32}]
)~"},
      {"columns_updated_in_place", R"~(
__global__ void decay(float* A, const float* w, int planes, int n, int m) {
  int p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= planes) return;
  for (int t = 0; t < 3; ++t) {
    for (int j = 1; j < m - 1; j += 2) {
      for (int i = 0; i < n; ++i) {
        A[(p * n + i) * m + j] = 0.5f * A[(p * n + i) * m + j] + w[j] * t;
        A[(p * n + i) * m + j + 1] -= w[j + 1];
      }
    }
  }
})~",
       R"~(
sizes: {planes: 64, n: 12, m: 17}
args: {A: {dir: inout, shape: [planes, n, m]}, w: {dir: in, shape: [m]}}
launch: {block: 32, grid: "cdiv(planes, bx)"}
tests: [{planes: 19, n: 5, m: 9}, {planes: 32, n: 4, m: 7}, {planes: 1, n: 1, m: 5}]
)~"},
      {"planes_by_a_stride_of_the_grid", R"~(
__global__ void spread(const float* in, const float* gain, float* out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
    const float value = in[i];
    for (int c = 0; c < 6; ++c) {
      const int at = i * 6 + c;
      out[at] = gain[c] * value;
    }
  }
})~",
       R"~(
sizes: {n: 4096}
args: {in: {dir: in, shape: [n]}, gain: {dir: in, shape: [6]}, out: {dir: out, shape: [n, 6]}}
launch: {block: 64, grid: 8}
tests: [{n: 1500}, {n: 1024}, {n: 1}]
)~"},
      {"one_thread_for_all", R"~(
__global__ void outer(const double* u, const double* v, double* out, int n) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) out[i * n + j] = u[i] * v[j];
})~",
       R"~(
sizes: {n: 64}
args: {u: {dir: in, shape: [n]}, v: {dir: in, shape: [n]}, out: {dir: out, shape: [n, n]}}
launch: {block: 1, grid: 1}
tests: [{n: 37}, {n: 32}, {n: 2}]
)~"},
      {"samples_counted_by_a_thread", R"~(
__global__ void count(const int* sample, int* bins, int n) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t * 8 + 7 < n) {
    for (int k = 0; k < 8; ++k) atomicAdd(&bins[sample[t * 8 + k]], 1);
  }
})~",
       R"~(
sizes: {n: 4096}
args:
  sample: {dir: in, shape: [n], init: "int(0,15)"}
  bins: {dir: inout, shape: [16], init: "int(0,3)"}
launch: {block: 64, grid: "cdiv(n, 8 * bx)"}
tests: [{n: 1500}, {n: 1024}, {n: 8}]
)~"},
  };
}

}  // namespace regraph::test
