// Kernels that use what they have accumulated so far.
#include "rewrite/sample_kernels.h"

namespace regraph::test {
namespace {

constexpr const char* kScanManifest = R"~(
sizes: {rows: 3000, cols: 2048}
args: {x: {dir: in, shape: [rows, cols]}, y: {dir: out, shape: [rows, cols]}}
launch: {block: 64, grid: "cdiv(rows, bx)"}
tests: [{rows: 37, cols: 77}, {rows: 5, cols: 2052}, {rows: 3, cols: 1}]
check: {tolerance: 1.0e-4}
)~";

}  // namespace

std::vector<SampleKernel> scan_kernels() {
  return {
      {"scan_sums", R"~(
__global__ void sums(const float* x, float* y, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int c = 0; c < cols; ++c) {
    sum += x[row * cols + c];
    y[row * cols + c] = sum;
  }
})~",
       kScanManifest},
      {"scan_onto_previous", R"~(
__global__ void sums(const float* x, float* y, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) {
    y[row * cols] = x[row * cols];
    for (int c = 1; c < cols; c++) y[row * cols + c] = y[row * cols + c - 1] + x[row * cols + c];
  }
})~",
       kScanManifest},
      {"scan_exclusive_counts", R"~(
__global__ void counts(const int* x, int* before, unsigned* bits, int* hits, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) {
    const int* xr = x + row * cols;
    int count = 5;
    unsigned seen = 0;
    for (int c = 1; c < cols; c += 2) {
      int v = xr[c];
      before[row * cols + c] = count;
      if (v > 2) count += v;
      seen |= 1u << (v + 9);
      bits[row * cols + c] = seen & 0xffu;
    }
    hits[row] = count;
  }
})~",
       R"~(
sizes: {rows: 3000, cols: 2048}
args:
  x: {dir: in, shape: [rows, cols], init: "int(-9,9)"}
  before: {dir: inout, shape: [rows, cols], init: "int(0,9)"}
  bits: {dir: inout, shape: [rows, cols], init: "int(0,9)"}
  hits: {dir: out, shape: [rows]}
launch: {block: 64, grid: "cdiv(rows, bx)"}
tests: [{rows: 37, cols: 177}, {rows: 5, cols: 1026}, {rows: 3, cols: 1}]
)~"},
      {"scan_means_in_place", R"~(
__global__ void means(float* y, double* totals, float* peaks, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  double sum = 0.0;
  float peak = -1.0f;
  for (int c = 0; c < cols; ++c) {
    float v = y[row * cols + c];
    sum += v;
    if (v > peak) peak = v;
    float mean = (float)(sum / (c + 1));
    y[row * cols + c] = mean < 0.0f ? peak : mean;
  }
  totals[row] = sum;
  peaks[row] = peak;
})~",
       R"~(
sizes: {rows: 3000, cols: 2048}
args:
  y: {dir: inout, shape: [rows, cols]}
  totals: {dir: out, shape: [rows]}
  peaks: {dir: out, shape: [rows]}
launch: {block: 64, grid: "cdiv(rows, bx)"}
tests: [{rows: 37, cols: 77}, {rows: 5, cols: 1028}, {rows: 3, cols: 1}]
)~"},
      {"scan_column_maxima", R"~(
__global__ void maxima(const float* x, float* y, int steps, int series) {
  int s = blockIdx.x * blockDim.x + threadIdx.x;
  if (s < series) {
    float maximum = x[s];
    for (int t = 0; t < steps; t++) {
      if (x[t * series + s] > maximum) {
        maximum = x[t * series + s];
      }
      y[t * series + s] = maximum;
    }
  }
})~",
       R"~(
sizes: {steps: 2048, series: 4096}
args: {x: {dir: in, shape: [steps, series]}, y: {dir: out, shape: [steps, series]}}
launch: {block: 128, grid: "cdiv(series, bx)"}
tests: [{steps: 277, series: 37}, {steps: 64, series: 64}, {steps: 1, series: 3}]
)~"},
      {"scan_distribution", R"~(
__global__ void distribution(const float* x, float* y, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float m = -INFINITY;
  for (int c = 0; c < cols; ++c) m = fmaxf(m, x[row * cols + c]);
  float sum = 0.0f;
  for (int c = 0; c < cols; ++c) sum += expf(x[row * cols + c] - m);
  float below = 0.0f;
  for (int c = 0; c < cols; ++c) {
    below += expf(x[row * cols + c] - m);
    y[row * cols + c] = below / sum;
  }
})~",
       kScanManifest},
      {"scan_segments", R"~(
__global__ void segments(const float* x, float* y, float* most, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float peak = 0.0f;
  for (int k = 0; k < 3; ++k) {
    float sum = 0.0f;
    for (int c = 0; c < cols; ++c) {
      y[(row * 3 + k) * cols + c] = sum - peak;
      sum += x[(row * 3 + k) * cols + c] * 0.5f;
    }
    peak = fmaxf(peak, sum);
  }
  most[row] = peak;
})~",
       R"~(
sizes: {rows: 1000, cols: 2048}
args:
  x: {dir: in, shape: [rows, 3, cols]}
  y: {dir: out, shape: [rows, 3, cols]}
  most: {dir: out, shape: [rows]}
launch: {block: 64, grid: "cdiv(rows, bx)"}
tests: [{rows: 37, cols: 77}, {rows: 5, cols: 1028}, {rows: 3, cols: 1}]
check: {tolerance: 1.0e-4}
)~"},
  };
}

}  // namespace regraph::test
