// Code that is taken apart as it is read, or that the analyses have to see through.
#include "rewrite/sample_kernels.h"

namespace regraph::test {
namespace {

constexpr const char* kQuadsManifest = R"~(
sizes: {n: 4096}
args:
  a: {dir: in, shape: [n]}
  b: {dir: inout, shape: [n]}
launch: {block: 128, grid: "cdiv(n, 4 * bx)"}
tests: [{n: 4096}, {n: 1000}, {n: 4}]
)~";

constexpr const char* kMapManifest = R"~(
sizes: {n: 5000}
args:
  a: {dir: in, shape: [n]}
  b: {dir: inout, shape: [n]}
launch: {block: 128, grid: "cdiv(n, bx)"}
tests: [{n: 5000}, {n: 1024}, {n: 1}]
)~";

constexpr const char* kRowsManifest = R"~(
sizes: {rows: 96, cols: 256}
args:
  a: {dir: in, shape: ["rows * cols"]}
  b: {dir: inout, shape: ["rows * cols"]}
launch: {block: 64, grid: "cdiv(rows, bx)"}
tests: [{rows: 96, cols: 256}, {rows: 33, cols: 128}, {rows: 1, cols: 4}]
)~";

}  // namespace

std::vector<SampleKernel> reading_kernels() {
  return {
      {"views_of_elements", R"~(
__global__ void quads(const float* a, float* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (4 * i < n) {
    float4 v = *(const float4*)&a[4 * i];
    float4 w = reinterpret_cast<float4*>(b)[i];
    w.x += v.x; w.y += v.y; w.z += v.z; w.w += a[4 * i];
    *reinterpret_cast<float4*>(&b[4 * i]) = w;
  }
})~",
       kQuadsManifest},
      {"views_of_rows", R"~(
__global__ void rows_by_quads(const float* a, float* b, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const float4* in = reinterpret_cast<const float4*>(a + row * cols);
  float sum = 0.0f;
  for (int c = 0; c < cols / 4; ++c) {
    float4 v = in[c];
    sum += v.x + v.y + v.z + v.w;
  }
  for (int c = 0; c < cols / 4; ++c) {
    float4 v = in[c];
    v.x -= sum;
    ((float4*)&b[row * cols])[c] = v;
  }
  *(float4*)&b[row * cols] = *(float4*)&b[row * cols];
  b[row * cols + 1] += sum;
})~",
       kRowsManifest},
      {"views_of_a_tile", R"~(
__global__ void tile_by_quads(const float* a, float* b, int n) {
  __shared__ __align__(16) float tile[8][32];
  int first = blockIdx.x * 256;
  int t = threadIdx.x;
  if (first + 4 * t + 3 < n) {
    *reinterpret_cast<float4*>(&tile[t / 8][4 * (t % 8)]) =
        *reinterpret_cast<const float4*>(&a[first + 4 * t]);
  }
  __syncthreads();
  if (first + 255 < n) {
    for (int k = 0; k < 4; ++k) b[first + k * 64 + t] += tile[t % 8][(t / 8 + 8 * k) % 32];
  }
})~",
       R"~(
sizes: {n: 4096}
args:
  a: {dir: in, shape: [n]}
  b: {dir: inout, shape: [n]}
launch: {block: 64, grid: "cdiv(n, 256)"}
tests: [{n: 4096}, {n: 512}, {n: 256}]
)~"},
      {"steps_inside_expressions", R"~(
__global__ void steps(const float* a, float* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float s, t;
  s = t = a[i];
  int k = 0, left = 5;
  while (left--) s += t * k++;
  int last = k++;
  float old;
  if ((old = b[i]) > 0.0f) s += old;
  for (int p = 0, q = i; p < 7; ++p, q += 2) s += p * a[q % n];
  for (int p = 0, q = 7; p < q; ++p, --q) s += p * q;
  do { s *= 0.5f; } while (s > 64.0f);
  b[i] = s + last + k;
})~",
       kMapManifest},
      {"steps_until_found", R"~(
__global__ void until_found(const float* a, float* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int count = 0;
  int left = 12;
  while (left--) {
    if (a[(i + left) % n] > 0.75f) break;
    ++count;
  }
  int more = 0;
  do { count += 2; } while (++more < 3);
  b[i] = count + left;
})~",
       kMapManifest},
      {"lists_of_values", R"~(
__global__ void lists(const float* a, float* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float weights[3] = {0.25f, 0.5f, 0.25f};
  float sums[4] = {0.0f};
  float4 v = {a[i], b[i], 1.0f, 2.0f};
  for (int k = 0; k < 4; ++k) sums[k] += v.x * weights[k % 3] + v.y;
  b[i] = sums[0] + sums[1] + sums[2] + sums[3] + v.z;
})~",
       kMapManifest},
      {"records", R"~(
struct Body { float x, y, z, w; };
__global__ void records(const Body* a, Body* b, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  Body sum = {0.0f, 0.0f, 0.0f, 0.0f};
  float mass = 0.0f;
  for (int c = 0; c < cols; ++c) {
    const Body& one = a[row * cols + c];
    sum.x += one.x * one.w;
    mass += one.w;
  }
  b[row].x += sum.x;
  b[row].w = mass;
})~",
       R"~(
sizes: {rows: 96, cols: 128}
args:
  a: {dir: in, shape: ["rows * cols"]}
  b: {dir: inout, shape: [rows]}
launch: {block: 64, grid: "cdiv(rows, bx)"}
tests: [{rows: 96, cols: 128}, {rows: 33, cols: 64}, {rows: 1, cols: 1}]
)~"},
      {"functions_of_the_file", R"~(
// Asks no threadIdx.x of anybody.
__device__ float weight(float v, float w) { return v > w ? v - w : 0.5f * w; }
__device__ float at(const float* p, int i) { return p[i] * 2.0f; }
__device__ void split(float v, float* low, float& high) {
  *low = v * 0.25f;
  high = v - *low;
}
__global__ void functions(const float* a, float* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float low;
  float high = 1.0f;
  split(at(a, i), &low, high);
  float value = weight(low, high);
  b[i] = value + high + b[i];
})~",
       kMapManifest},
      {"function_in_a_row", R"~(
__device__ float weight(float v, float w) { return v > w ? v - w : 0.5f * w; }
__global__ void row_function(const float* a, float* b, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) {
    float sum = 0.0f;
    for (int c = 0; c < cols; ++c) sum += weight(a[row * cols + c], 0.5f);
    for (int c = 0; c < cols; ++c) b[row * cols + c] = weight(a[row * cols + c], sum);
  }
})~",
       kRowsManifest},
      {"function_without_guard", R"~(
__device__ float at(const float* p, int i) { return p[i] * 2.0f; }
__global__ void unguarded(const float* a, float* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = at(a, i);
  if (i < n) b[i] = v;
})~",
       R"~(
sizes: {n: 4096}
args:
  a: {dir: in, shape: [n]}
  b: {dir: out, shape: [n]}
launch: {block: 128, grid: "cdiv(n, bx)"}
tests: [{n: 4096}, {n: 1280}, {n: 128}]
)~"},
      {"references", R"~(
__global__ void references(const float* a, float* b, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  for (int c = 0; c < cols; ++c) {
    float& to = b[row * cols + c];
    const auto& from = a[row * cols + c];
    const auto twice = 2.0f * from;
    to += twice;
    to = to > 1.0f ? 1.0f : to;
  }
})~",
       kRowsManifest},
  };
}

}  // namespace regraph::test
