#include "rewrite/sample_kernels.h"

namespace regraph::test {

// Neighbourhoods along rows, at row lengths that are and are not made of whole vectors.
std::vector<SampleKernel> vector_window_kernels() {
  return {
      // The border is copied, by another branch.
      {"columns_heat", R"~(
__global__ void heat(const float* in, float* out, int height, int width) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  int i = y * width + x;
  if (x > 0 && x < width - 1 && y > 0 && y < height - 1) {
    out[i] = 0.5f * in[i] + 0.125f * (in[i - 1] + in[i + 1] + in[i - width] + in[i + width]);
  } else {
    out[i] = in[i];
  }
})~",
       R"~(
sizes: {height: 1024, width: 1024}
args: {in: {dir: in, shape: [height, width], init: normal}, out: {dir: out, shape: [height, width]}}
launch: {block: [16, 4], grid: ["cdiv(width, bx)", "cdiv(height, by)"]}
tests: [{height: 37, width: 256}, {height: 21, width: 45}, {height: 9, width: 12}, {height: 1, width: 3}, {height: 2, width: 4}]
assume: {noalias: true}
)~"},
      // Neighbours of neighbours along rows, and doubles, of which a vector holds two.
      {"columns_second_order", R"~(
__global__ void wave(const double* __restrict__ now, const double* before, double* after, int ny, int nx) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= 2 && x + 2 < nx && y < ny) {
    const size_t at = static_cast<size_t>(y) * nx + x;
    after[at] = 2.0 * now[at] - before[at] + 0.01 * (16.0 * (now[at - 1] + now[at + 1]) - now[at - 2] - now[at + 2]);
  }
})~",
       R"~(
sizes: {ny: 512, nx: 1024}
args:
  now: {dir: in, shape: [ny, nx], init: normal}
  before: {dir: in, shape: [ny, nx], init: normal}
  after: {dir: inout, shape: [ny, nx]}
launch: {block: [32, 4], grid: ["cdiv(nx, bx)", "cdiv(ny, by)"]}
tests: [{ny: 13, nx: 300}, {ny: 8, nx: 131}, {ny: 5, nx: 6}, {ny: 2, nx: 1}]
assume: {noalias: true}
)~"},
      // Windows two apart: rows of the output are as long as half of the input's, rounded up.
      {"columns_pool", R"~(
__global__ void pool(const float* in, float* out, int channels, int height, int width) {
  int out_x = blockIdx.x * blockDim.x + threadIdx.x;
  int out_y = blockIdx.y * blockDim.y + threadIdx.y;
  int c = blockIdx.z;
  int out_width = (width + 1) / 2;
  int out_height = (height + 1) / 2;
  if (out_x < out_width && out_y < out_height) {
    float maximum = -INFINITY;
    for (int i = -1; i <= 1; i++) {
      for (int j = -1; j <= 1; j++) {
        int y = out_y * 2 + i;
        int x = out_x * 2 + j;
        if (y >= 0 && y < height && x >= 0 && x < width)
          maximum = fmaxf(maximum, in[(c * height + y) * width + x]);
      }
    }
    out[(c * out_height + out_y) * out_width + out_x] = maximum;
  }
})~",
       R"~(
sizes: {channels: 32, height: 224, width: 224}
args:
  in: {dir: in, shape: [channels, height, width], init: normal}
  out: {dir: out, shape: [channels, "(height + 1) / 2", "(width + 1) / 2"]}
launch: {block: [16, 4], grid: ["cdiv((width + 1) / 2, bx)", "cdiv((height + 1) / 2, by)", channels]}
tests: [{channels: 2, height: 16, width: 160}, {channels: 3, height: 13, width: 21}, {channels: 2, height: 16, width: 32}, {channels: 1, height: 1, width: 1}]
assume: {noalias: true}
)~"},
      // Terms that are added where they are inside, one by one, through planes.
      {"columns_seven_points", R"~(
__global__ void field(const float* in, float* out, int depth, int height, int width) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  int z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x < width && y < height && z < depth) {
    int i = (z * height + y) * width + x;
    float sum = 0.0f;
    if (x > 0) sum += in[i - 1];
    if (x < width - 1) sum += in[i + 1];
    if (y > 0) sum += in[i - width];
    if (y < height - 1) sum += in[i + width];
    if (z > 0) sum += in[i - width * height];
    if (z < depth - 1) sum += in[i + width * height];
    out[i] = 0.4f * in[i] + 0.1f * sum;
  }
})~",
       R"~(
sizes: {depth: 64, height: 64, width: 256}
args: {in: {dir: in, shape: [depth, height, width], init: normal}, out: {dir: out, shape: [depth, height, width]}}
launch: {block: [16, 4, 2], grid: ["cdiv(width, bx)", "cdiv(height, by)", "cdiv(depth, bz)"]}
tests: [{depth: 11, height: 13, width: 140}, {depth: 5, height: 9, width: 21}, {depth: 3, height: 4, width: 8}, {depth: 1, height: 1, width: 1}]
assume: {noalias: true}
)~"},
      // Read through clamped coordinates, and changed in place.
      {"columns_clamped", R"~(
__global__ void sharpen(const int* in, int* out, int height, int width) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) {
    int above = max(y - 1, 0), below = min(y + 1, height - 1);
    int left = x > 0 ? x - 1 : 0, right = x < width - 1 ? x + 1 : x;
    int value = 4 * in[y * width + x] - in[above * width + x] - in[below * width + x] -
                in[y * width + left] - in[y * width + right];
    out[y * width + x] = out[y * width + x] / 2 + value;
  }
})~",
       R"~(
sizes: {height: 512, width: 1024}
args: {in: {dir: in, shape: [height, width]}, out: {dir: inout, shape: [height, width]}}
launch: {block: [32, 4], grid: ["cdiv(width, bx)", "cdiv(height, by)"]}
tests: [{height: 9, width: 256}, {height: 13, width: 131}, {height: 5, width: 8}, {height: 1, width: 1}]
assume: {noalias: true}
)~"},
      // Two stores of a thread, of rows whose distance is given, so that they may be the same.
      {"columns_two_rows", R"~(
__global__ void spread(const float* in, float* out, int height, int width) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) {
    float value = in[y * width + x];
    out[2 * y * width + x] = value + 1.0f;
    out[(2 * y + 1) * width + x] = value * value;
  }
})~",
       R"~(
sizes: {height: 256, width: 512}
args: {in: {dir: in, shape: [height, width], init: normal}, out: {dir: inout, shape: [height, 2, width]}}
launch: {block: [32, 2], grid: ["cdiv(width, bx)", "cdiv(height, by)"]}
tests: [{height: 9, width: 256}, {height: 6, width: 77}, {height: 1, width: 1}]
assume: {noalias: true}
)~"},
  };
}

}  // namespace regraph::test
