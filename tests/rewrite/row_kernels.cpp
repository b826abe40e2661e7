#include "rewrite/sample_kernels.h"

namespace regraph::test {
namespace {

constexpr const char* kRowManifest = R"~(
sizes: {rows: 3000, cols: 1024}
args: {x: {dir: in, shape: [rows, cols]}, y: {dir: out, shape: [rows, cols]}}
launch: {block: 64, grid: "cdiv(rows, bx)"}
tests: [{rows: 70, cols: 45}, {rows: 9, cols: 132}, {rows: 1, cols: 1}]
assume: {fast_math: true}
)~";

// Few different values: most rows hold their largest one several times.
constexpr const char* kPlacesManifest = R"~(
sizes: {rows: 3000, cols: 1024}
args:
  x: {dir: in, shape: [rows, cols], init: "int(-3,3)"}
  value: {dir: out, shape: [rows]}
  place: {dir: out, shape: [rows]}
launch: {block: 64, grid: "cdiv(rows, bx)"}
tests: [{rows: 70, cols: 45}, {rows: 9, cols: 132}, {rows: 1, cols: 1}]
)~";

}  // namespace

std::vector<SampleKernel> row_kernels() {
  return {
      {"softmax_rows", R"~(
__global__ void softmax(const float* x, float* y, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float m = -INFINITY;
  for (int c = 0; c < cols; ++c) m = fmaxf(m, x[row * cols + c]);
  float sum = 0.0f;
  for (int c = 0; c < cols; ++c) sum += expf(x[row * cols + c] - m);
  for (int c = 0; c < cols; ++c) y[row * cols + c] = expf(x[row * cols + c] - m) / sum;
})~",
       kRowManifest},
      {"layernorm_pointers", R"~(
__global__ void layernorm(const float* x, const float* gamma, const float* beta, float* y, int rows,
                          int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) {
    const float* xr = x + row * cols;
    float* yr = y + row * cols;
    float mean = 0.0f;
    for (int i = 0; i < cols; i++) mean += xr[i];
    mean /= cols;
    float var = 0.0f;
    for (int i = 0; i < cols; i++) {
      float d = xr[i] - mean;
      var += d * d;
    }
    float inv = 1.0f / sqrtf(var / cols + 1e-5f);
    for (int i = 0; i < cols; i++) yr[i] = (xr[i] - mean) * inv * gamma[i] + beta[i];
  }
})~",
       R"~(
sizes: {rows: 3000, cols: 1024}
args:
  x: {dir: in, shape: [rows, cols]}
  gamma: {dir: in, shape: [cols]}
  beta: {dir: in, shape: [cols]}
  y: {dir: out, shape: [rows, cols]}
launch: {block: 64, grid: "cdiv(rows, bx)"}
tests: [{rows: 70, cols: 45}, {rows: 9, cols: 132}, {rows: 1, cols: 1}]
assume: {fast_math: true}
)~"},
      {"softmax_in_place", R"~(
__global__ void softmax(float* y, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float m = -1e30f;
  float sum = 0;
  for (int c = 0; c < cols; ++c) {
    float v = y[row * cols + c];
    if (v > m) m = v;
  }
  for (int c = 0; c < cols; ++c) {
    float e = expf(y[row * cols + c] - m);
    y[row * cols + c] = e;
    sum += e;
  }
  for (int c = 0; c < cols; ++c) y[row * cols + c] /= sum;
})~",
       R"~(
sizes: {rows: 3000, cols: 1024}
args: {y: {dir: inout, shape: [rows, cols]}}
launch: {block: 64, grid: "cdiv(rows, bx)"}
tests: [{rows: 70, cols: 45}, {rows: 9, cols: 132}, {rows: 1, cols: 1}]
)~"},
      {"row_statistics", R"~(
__global__ void statistics(const int* x, int* largest, int* total, int* hits, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) {
    int best = x[row * cols];
    int sum = 7;
    int count = 0;
    for (int c = 1; c < cols; c += 2) {
      int v = x[row * cols + c];
      best = v > best ? v : best;
      if (v > 0) count = count + 1;
      sum = v + sum;
    }
    largest[row] = best;
    total[row] += sum;
    hits[row] = count;
  }
})~",
       R"~(
sizes: {rows: 3000, cols: 1024}
args:
  x: {dir: in, shape: [rows, cols], init: "int(-9,9)"}
  largest: {dir: out, shape: [rows]}
  total: {dir: inout, shape: [rows], init: "int(0,9)"}
  hits: {dir: out, shape: [rows]}
launch: {block: 64, grid: "cdiv(rows, bx)"}
tests: [{rows: 70, cols: 45}, {rows: 9, cols: 132}, {rows: 1, cols: 1}]
)~"},
      {"nearest_centre", R"~(
__global__ void nearest(const float* x, const float* centres, float* distance, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float best = 3.0e38f;
  for (int k = 0; k < 4; ++k) {
    float sum = 0.0f;
    for (int c = 0; c < cols; ++c) {
      float d = x[row * cols + c] - centres[k * cols + c];
      sum += d * d;
    }
    best = fminf(best, sum);
  }
  distance[row] = best;
})~",
       R"~(
sizes: {rows: 3000, cols: 1024}
args:
  x: {dir: in, shape: [rows, cols]}
  centres: {dir: in, shape: [4, cols]}
  distance: {dir: out, shape: [rows]}
launch: {block: 64, grid: "cdiv(rows, bx)"}
tests: [{rows: 70, cols: 45}, {rows: 9, cols: 132}, {rows: 1, cols: 1}]
)~"},
      {"first_maximum", R"~(
__global__ void places(const float* x, float* value, int* place, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) {
    float best = x[row * cols];
    int position = 0;
    for (int c = 1; c < cols; c++) {
      if (x[row * cols + c] > best) {
        best = x[row * cols + c];
        position = c;
      }
    }
    value[row] = best;
    place[row] = position;
  }
})~",
       kPlacesManifest},
      // The last of the smallest, and whether there was one at all; the position falls.
      {"last_minimum", R"~(
__global__ void places(const float* x, float* value, int* place, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float best = -1.0f;
  int position = 5000;
  for (int c = 0; c < cols; ++c) {
    float v = x[row * cols + c];
    bool better = best >= v;
    position = better ? cols - c : position;
    best = better ? v : best;
  }
  value[row] = best;
  place[row] = position;
})~",
       kPlacesManifest},
      // Of the products of neighbours, in rounds; what was found stands for the next round.
      {"best_products", R"~(
__global__ void places(const float* x, float* value, int* place, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float best = 0.0f;
  float left = 0.0f;
  int position = -1;
  for (int round = 0; round < 3; ++round) {
    for (int c = 0; c < cols - 1; ++c) {
      float product = x[row * cols + c] * x[row * cols + c + 1] + round;
      if (product >= best) {
        left = x[row * cols + c];
        position = c;
        best = product;
      }
    }
    best -= 1.0f;
  }
  value[row] = best + 16.0f * left;
  place[row] = position;
})~",
       kPlacesManifest},
      // A block a row, with functions that work together.
      {"block_softmax", R"~(
struct Larger {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
struct Sum {
  __device__ float operator()(float a, float b) const { return a + b; }
};
template <typename Operation>
__device__ float block_reduce(float value, Operation operation) {
  __shared__ float slots[64];
  slots[threadIdx.x] = value;
  __syncthreads();
  for (int stride = 32; stride > 0; stride >>= 1) {
    if (threadIdx.x < stride)
      slots[threadIdx.x] = operation(slots[threadIdx.x], slots[threadIdx.x + stride]);
    __syncthreads();
  }
  float result = slots[0];
  __syncthreads();
  return result;
}
__global__ void softmax(const float* x, float* y, int rows, int cols) {
  const float* from = x + (size_t)blockIdx.x * cols;
  float* to = y + (size_t)blockIdx.x * cols;
  float m = -INFINITY;
  for (size_t c = threadIdx.x; c < (size_t)cols; c += 64) m = fmaxf(m, from[c]);
  m = block_reduce(m, Larger());
  float sum = 0.0f;
  for (size_t c = threadIdx.x; c < (size_t)cols; c += 64) sum += expf(from[c] - m);
  sum = block_reduce(sum, Sum());
  for (size_t c = threadIdx.x; c < (size_t)cols; c += 64) to[c] = expf(from[c] - m) / sum;
})~",
       R"~(
sizes: {rows: 3000, cols: 1024}
args: {x: {dir: in, shape: [rows, cols]}, y: {dir: out, shape: [rows, cols]}}
launch: {block: 64, grid: rows}
tests: [{rows: 70, cols: 45}, {rows: 9, cols: 132}, {rows: 1, cols: 1}]
assume: {fast_math: true}
)~"},
      // A block a row, pairs that a function compares.
      {"block_first_maximum", R"~(
template <typename T>
struct Entry {
  T value;
  int position;
};
template <typename T>
__device__ Entry<T> better(const Entry<T>& a, const Entry<T>& b) {
  if (a.value > b.value) return a;
  if (b.value > a.value) return b;
  return a.position < b.position ? a : b;
}
__global__ void places(const float* x, float* value, int* place, int rows, int cols) {
  __shared__ Entry<float> entries[64];
  Entry<float> mine{-INFINITY, 2147483647};
  for (size_t c = threadIdx.x; c < cols; c += 64)
    mine = better(mine, Entry<float>{x[(size_t)blockIdx.x * cols + c], static_cast<int>(c)});
  entries[threadIdx.x] = mine;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half)
      entries[threadIdx.x] = better(entries[threadIdx.x], entries[threadIdx.x + half]);
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    value[blockIdx.x] = entries[0].value;
    place[blockIdx.x] = entries[0].position;
  }
})~",
       R"~(
sizes: {rows: 3000, cols: 1024}
args:
  x: {dir: in, shape: [rows, cols], init: "int(-3,3)"}
  value: {dir: out, shape: [rows]}
  place: {dir: out, shape: [rows]}
launch: {block: 64, grid: rows}
tests: [{rows: 70, cols: 45}, {rows: 9, cols: 132}, {rows: 1, cols: 1}]
)~"},
  };
}

}  // namespace regraph::test
