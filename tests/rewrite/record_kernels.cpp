// Kernels whose indices and values come through records, as libraries write them.
#include "rewrite/sample_kernels.h"

namespace regraph::test {
namespace {

constexpr const char* kImagesManifest = R"~(
sizes: {images: 3, channels: 40, h: 6, w: 9}
args:
  a: {dir: in, shape: [images, channels, h, w]}
  b: {dir: out, shape: [images, h, w, channels]}
launch: {block: 256, grid: "cdiv(images * channels * h * w, bx)"}
tests: [{images: 3, channels: 40, h: 6, w: 9}, {images: 1, channels: 64, h: 4, w: 16}, {images: 1, channels: 1, h: 1, w: 1}]
)~";

}  // namespace

std::vector<SampleKernel> record_kernels() {
  return {
      {"record_of_extents", R"~(
template <int kRank>
struct Axes {
  size_t extent[kRank];
  size_t stride[kRank];
};
template <int kRank>
__device__ void move(const float* a, float* b, const Axes<kRank>& axes, size_t index) {
  size_t rest = index;
  size_t source = 0;
#pragma unroll
  for (int axis = kRank - 1; axis >= 0; --axis) {
    source += rest % axes.extent[axis] * axes.stride[axis];
    rest /= axes.extent[axis];
  }
  b[index] = a[source];
}
__global__ void permute(const float* a, float* b, int images, int channels, int h, int w) {
  const size_t n = images, c = channels, height = h, width = w;
  const Axes<4> axes{{n, height, width, c}, {c * height * width, width, 1, height * width}};
  const size_t index = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (index < n * c * height * width) move<4>(a, b, axes, index);
})~",
       kImagesManifest},
      {"coordinates_in_an_array", R"~(
__global__ void permute_by_places(const float* a, float* b, int images, int channels, int h, int w) {
  int index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index >= images * channels * h * w) return;
  const int extents[4] = {images, channels, h, w};
  int place[4];
  int rest = index;
  for (int k = 3; k >= 0; k--) {
    place[k] = rest % extents[k];
    rest = rest / extents[k];
  }
  const int order[4] = {0, 2, 3, 1};
  int to = 0;
  for (int k = 0; k < 4; k++) to = to * extents[order[k]] + place[order[k]];
  b[to] = a[index];
})~",
       kImagesManifest},
      {"views_with_strides", R"~(
template <typename T>
struct View {
  T* data;
  size_t stride;
  __device__ T& at(size_t row, size_t column) const { return data[row * stride + column]; }
};
__global__ void transpose_views(const float* __restrict__ a, float* __restrict__ b, int rows, int columns) {
  const View<const float> source{a, (size_t)columns};
  const View<float> target{b, (size_t)rows};
  const size_t row = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  const size_t column = (size_t)blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= (size_t)rows || column >= (size_t)columns) return;
  target.at(column, row) = source.at(row, column);
})~",
       R"~(
sizes: {rows: 70, columns: 45}
args:
  a: {dir: in, shape: [rows, columns]}
  b: {dir: out, shape: [columns, rows]}
launch: {block: [32, 8], grid: ["cdiv(rows, bx)", "cdiv(columns, by)"]}
tests: [{rows: 70, columns: 45}, {rows: 32, columns: 64}, {rows: 1, columns: 1}]
)~"},
      {"field_of_zeros_outside", R"~(
struct Field {
  const float* data;
  int height, width;
  __device__ size_t index(int y, int x) const { return (size_t)y * width + x; }
  __device__ float operator()(int y, int x) const {
    const bool inside = y >= 0 && y < height && x >= 0 && x < width;
    return inside ? data[index(y, x)] : 0.0f;
  }
};
__global__ void around(const float* __restrict__ a, float* __restrict__ b, int height, int width) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const Field f{a, height, width};
  b[f.index(y, x)] = 0.5f * f(y, x) + 0.125f * (f(y, x - 1) + f(y, x + 1) + f(y - 1, x) + f(y + 1, x));
})~",
       R"~(
sizes: {height: 50, width: 90}
args:
  a: {dir: in, shape: [height, width]}
  b: {dir: out, shape: [height, width]}
launch: {block: [32, 4], grid: ["cdiv(width, bx)", "cdiv(height, by)"]}
tests: [{height: 50, width: 90}, {height: 16, width: 64}, {height: 1, width: 1}]
)~"},
      {"turned_rows", R"~(
struct Complex {
  float real, imaginary;
};
__device__ Complex operator*(const Complex& a, const Complex& b) {
  return {a.real * b.real - a.imaginary * b.imaginary, a.imaginary * b.real + a.real * b.imaginary};
}
__global__ void turn(const float* __restrict__ x, const float* __restrict__ angles, float* __restrict__ y,
                     int tokens, int heads, int half) {
  const size_t token = blockIdx.y;
  const size_t base = (token * heads + blockIdx.x) * 2 * half;
  for (int d = threadIdx.x; d < half; d += blockDim.x) {
    const Complex angle{angles[(2 * token) * half + d], angles[(2 * token + 1) * half + d]};
    const Complex turned = Complex{x[base + d], x[base + half + d]} * angle;
    y[base + d] = turned.real;
    y[base + half + d] = turned.imaginary;
  }
})~",
       R"~(
sizes: {tokens: 12, heads: 5, half: 36}
args:
  x: {dir: in, shape: [tokens, heads, 2 * half]}
  angles: {dir: in, shape: [tokens, 2, half]}
  y: {dir: out, shape: [tokens, heads, 2 * half]}
launch: {block: 32, grid: [heads, tokens]}
tests: [{tokens: 12, heads: 5, half: 36}, {tokens: 3, heads: 8, half: 64}, {tokens: 1, heads: 1, half: 1}]
)~"},
  };
}

}  // namespace regraph::test
