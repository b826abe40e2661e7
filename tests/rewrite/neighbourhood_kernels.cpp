#include "rewrite/sample_kernels.h"

namespace regraph::test {

std::vector<SampleKernel> neighbourhood_kernels() {
  return {
      {"convolution_5x5", R"~(
#define R 2
__global__ void convolution(const float* in, const float* filter, float* out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < w && y < h) {
    float sum = 0.0f;
    for (int dy = -R; dy <= R; ++dy) {
      for (int dx = -R; dx <= R; ++dx) {
        int ix = x + dx, iy = y + dy;
        if (ix >= 0 && ix < w && iy >= 0 && iy < h)
          sum += in[iy * w + ix] * filter[(dy + R) * (2 * R + 1) + dx + R];
      }
    }
    out[y * w + x] = sum;
  }
})~",
       R"~(
sizes: {w: 128, h: 96}
args:
  in: {dir: in, shape: [h, w]}
  filter: {dir: in, shape: [25]}
  out: {dir: out, shape: [h, w]}
launch: {block: [16, 16], grid: ["cdiv(w, bx)", "cdiv(h, by)"]}
tests: [{w: 45, h: 37}, {w: 32, h: 32}, {w: 1, h: 1}]
)~"},
      {"five_point_stencil", R"~(
__global__ void stencil(const float* in, float* out, int nx, int ny) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i <= 0 || i >= nx - 1 || j <= 0 || j >= ny - 1) return;
  int idx = j * nx + i;
  out[idx] = 0.2f * (in[idx] + in[idx - 1] + in[idx + 1] + in[idx - nx] + in[idx + nx]);
})~",
       R"~(
sizes: {nx: 128, ny: 96}
args: {in: {dir: in, shape: [ny, nx]}, out: {dir: inout, shape: [ny, nx]}}
launch: {block: [16, 16], grid: ["cdiv(nx, bx)", "cdiv(ny, by)"]}
tests: [{nx: 45, ny: 37}, {nx: 32, ny: 32}, {nx: 1, ny: 1}]
)~"},
      {"padded_jacobi", R"~(
__global__ void jacobi(const double* in, double* out, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < n && y < n) {
    out[y * n + x] = 0.25 * (in[(y + 1) * (n + 2) + x] + in[(y + 1) * (n + 2) + x + 2] +
                             in[y * (n + 2) + x + 1] + in[(y + 2) * (n + 2) + x + 1]);
  }
})~",
       R"~(
sizes: {n: 96}
args: {in: {dir: in, shape: ["n + 2", "n + 2"]}, out: {dir: out, shape: [n, n]}}
launch: {block: [32, 8], grid: ["cdiv(n, bx)", "cdiv(n, by)"]}
tests: [{n: 45}, {n: 32}, {n: 1}]
)~"},
      {"fixed_width_blur", R"~(
__global__ void blur(const int* in, int* out, int h) {
  const int w = 64;
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  int sum = in[y * w + x];
  if (x > 0 && y > 0) sum += in[(y - 1) * w + x - 1];
  if (x + 1 < w && y + 1 < h) sum += in[(y + 1) * w + x + 1];
  if (x > 0 && y + 1 < h) sum -= in[(y + 1) * w + x - 1];
  if (x + 1 < w && y > 0) sum -= in[(y - 1) * w + x + 1];
  out[y * w + x] = sum;
})~",
       R"~(
sizes: {h: 96}
args: {in: {dir: in, shape: [h, 64]}, out: {dir: out, shape: [h, 64]}}
launch: {block: [32, 4], grid: [2, "cdiv(h, by)"]}
tests: [{h: 45}, {h: 32}, {h: 1}]
)~"},
  };
}

}  // namespace regraph::test
