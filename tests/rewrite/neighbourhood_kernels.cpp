#include "rewrite/sample_kernels.h"

namespace regraph::test {

std::vector<SampleKernel> neighbourhood_kernels() {
  return {
      {"walks_along_rows", R"~(
__global__ void walks(const float* in, float* out, int depth, int height, int width) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= depth * height) return;
  int k = t / height;
  int j = t % height;
  int i = 0;
  for (;;) {
    if (i >= width) break;
    int c = (k * height + j) * width + i;
    float left = i > 0 ? in[c - 1] : 0.0f;
    float above = j > 0 ? in[c - width] : 0.0f;
    float behind = k < depth - 1 ? in[c + height * width] : 0.0f;
    out[c] = in[c] - 0.25f * (left + above + behind);
    i = i + 1;
  }
})~",
       R"~(
sizes: {depth: 24, height: 20, width: 70}
args:
  in: {dir: in, shape: [depth, height, width]}
  out: {dir: out, shape: [depth, height, width]}
launch: {block: 64, grid: "cdiv(depth * height, bx)"}
tests: [{depth: 5, height: 7, width: 37}, {depth: 9, height: 9, width: 64}, {depth: 1, height: 1, width: 1}]
)~"},
      {"halved_pooling", R"~(
__global__ void pooling(const float* __restrict__ in, float* __restrict__ out, int channels, int height, int width) {
  const size_t index = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const int out_height = (height + 1) / 2;
  const int out_width = (width + 1) / 2;
  if (index >= static_cast<size_t>(channels) * out_height * out_width) return;
  const int x = index % out_width;
  const int y = index / out_width % out_height;
  const size_t channel = index / out_width / out_height;
  const float* plane = in + channel * height * width;
  float most = -1.0e30f;
  for (int r = max(2 * y - 1, 0); r < min(2 * y + 2, height); ++r) {
    for (int c = max(2 * x - 1, 0); c < min(2 * x + 2, width); ++c) most = fmaxf(most, plane[r * width + c]);
  }
  out[index] = most;
})~",
       R"~(
sizes: {channels: 3, height: 64, width: 96}
args:
  in: {dir: in, shape: [channels, height, width]}
  out: {dir: out, shape: [channels, "(height + 1) / 2", "(width + 1) / 2"]}
launch: {block: 64, grid: "cdiv(channels * ((height + 1) / 2) * ((width + 1) / 2), bx)"}
tests: [{channels: 3, height: 13, width: 21}, {channels: 2, height: 16, width: 64}, {channels: 1, height: 1, width: 1}]
)~"},
      // The window written out by hand, with names for what is inside, of an index taken apart.
      {"convolution_unrolled", R"~(
__global__ void taps(const float* in, const float* weights, float* out, int inputs, int outputs, int height, int width) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= outputs * height * width) return;
  const int column = at % width;
  const int row = at / width % height;
  const int map = at / width / height;
  const bool above = row > 0, below = row < height - 1, left = column > 0, right = column < width - 1;
  float sum = 0.0f;
  for (int c = 0; c < inputs; ++c) {
    const int here = (c * height + row) * width + column;
    const int tap = (map * inputs + c) * 9;
    sum += weights[tap] * (above && left ? in[here - width - 1] : 0.0f);
    sum += weights[tap + 1] * (above ? in[here - width] : 0.0f);
    sum += weights[tap + 2] * (above && right ? in[here - width + 1] : 0.0f);
    sum += weights[tap + 3] * (left ? in[here - 1] : 0.0f);
    sum += weights[tap + 4] * in[here];
    sum += weights[tap + 5] * (right ? in[here + 1] : 0.0f);
    sum += weights[tap + 6] * (below && left ? in[here + width - 1] : 0.0f);
    sum += weights[tap + 7] * (below ? in[here + width] : 0.0f);
    sum += weights[tap + 8] * (below && right ? in[here + width + 1] : 0.0f);
  }
  out[at] = sum;
})~",
       R"~(
sizes: {inputs: 64, outputs: 64, height: 56, width: 56}
args:
  in: {dir: in, shape: [inputs, height, width], init: normal}
  weights: {dir: in, shape: [outputs, inputs, 9], init: normal}
  out: {dir: out, shape: [outputs, height, width]}
launch: {block: 128, grid: "cdiv(outputs * height * width, bx)"}
tests:
  - {inputs: 3, outputs: 5, height: 9, width: 13}
  - {inputs: 4, outputs: 2, height: 16, width: 32}
  - {inputs: 1, outputs: 1, height: 1, width: 1}
assume: {noalias: true, reassociate: true}
)~"},
      // A window that is clipped before it is gone over, of an index that is taken apart.
      {"clipped_pool", R"~(
__global__ void pool(const float* __restrict__ in, float* __restrict__ out, int channels, int height,
                     int width) {
  const int out_height = (height + 1) / 2;
  const int out_width = (width + 1) / 2;
  const size_t index = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (index >= static_cast<size_t>(channels) * out_height * out_width) return;
  const int out_x = index % out_width;
  const int out_y = index / out_width % out_height;
  const float* plane = in + index / out_width / out_height * height * width;
  int y_start = out_y * 2 - 1;
  int x_start = out_x * 2 - 1;
  const int y_end = min(y_start + 3, height);
  const int x_end = min(x_start + 3, width);
  y_start = max(y_start, 0);
  x_start = max(x_start, 0);
  float state = -INFINITY;
  for (int y = y_start; y < y_end; ++y) {
    for (int x = x_start; x < x_end; ++x) {
      const float value = plane[static_cast<size_t>(y) * width + x];
      state = value > state ? value : state;
    }
  }
  out[index] = state;
})~",
       R"~(
sizes: {channels: 32, height: 224, width: 224}
args:
  in: {dir: in, shape: [channels, height, width], init: normal}
  out: {dir: out, shape: [channels, "(height + 1) / 2", "(width + 1) / 2"]}
launch: {block: 64, grid: "cdiv(channels * ((height + 1) / 2) * ((width + 1) / 2), bx)"}
tests: [{channels: 3, height: 13, width: 21}, {channels: 2, height: 16, width: 32}, {channels: 1, height: 1, width: 1}]
)~"},
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
      {"channels_3x3", R"~(
__global__ void layer(const float* in, const float* weights, float* out, int inputs, int outputs, int height, int width) {
  int w = blockIdx.x * blockDim.x + threadIdx.x;
  int h = blockIdx.y * blockDim.y + threadIdx.y;
  int k = blockIdx.z;
  if (w < width && h < height) {
    float sum = 0.5f;
    for (int c = 0; c < inputs; c++) {
      for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
          int y = h + i - 1;
          int x = w + j - 1;
          if (y >= 0 && y < height && x >= 0 && x < width)
            sum += in[(c * height + y) * width + x] * weights[((k * inputs + c) * 3 + i) * 3 + j];
        }
      }
    }
    out[(k * height + h) * width + w] = sum;
  }
})~",
       R"~(
sizes: {inputs: 5, outputs: 6, height: 32, width: 40}
args:
  in: {dir: in, shape: [inputs, height, width]}
  weights: {dir: in, shape: [outputs, inputs, 3, 3]}
  out: {dir: out, shape: [outputs, height, width]}
launch: {block: [16, 16], grid: ["cdiv(width, bx)", "cdiv(height, by)", outputs]}
tests:
  - {inputs: 5, outputs: 3, height: 13, width: 21}
  - {inputs: 4, outputs: 8, height: 16, width: 32}
  - {inputs: 1, outputs: 1, height: 1, width: 1}
)~"},
      // Along one dimension, threads three elements apart and taps four; only the grid knows how
      // many images there are.
      {"strided_line", R"~(
__global__ void line(const float* in, const float* weights, float* out, int outputs, int inputs, int length) {
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int image = blockIdx.z;
  if (row < outputs && column < (length - 9) / 3 + 1) {
    float sum = 0.0f;
    for (int channel = 0; channel < inputs; ++channel) {
      for (int k = 0; k < 3; ++k)
        sum += in[(image * inputs + channel) * length + column * 3 + k * 4] * weights[(row * inputs + channel) * 3 + k];
    }
    out[(image * outputs + row) * ((length - 9) / 3 + 1) + column] = sum;
  }
})~",
       R"~(
sizes: {images: 2, outputs: 24, inputs: 8, length: 400}
args:
  in: {dir: in, shape: [images, inputs, length]}
  weights: {dir: in, shape: [outputs, inputs, 3]}
  out: {dir: out, shape: [images, outputs, "(length - 9) / 3 + 1"]}
launch: {block: [32, 8], grid: ["cdiv((length - 9) / 3 + 1, bx)", "cdiv(outputs, by)", images]}
tests:
  - {images: 2, outputs: 19, inputs: 7, length: 500}
  - {images: 1, outputs: 64, inputs: 8, length: 801}
  - {images: 1, outputs: 1, inputs: 1, length: 9}
)~"},
      // Every third pixel of images with a rim; blocks along z are images and channels, whose
      // number is known.
      {"strided_layer", R"~(
__global__ void strided(const float* in, const float* weights, const float* bias, float* out, int n) {
  int w = blockIdx.x * blockDim.x + threadIdx.x;
  int h = blockIdx.y * blockDim.y + threadIdx.y;
  int image = blockIdx.z / 16;
  int c = blockIdx.z % 16;
  if (h < (n - 3) / 3 + 1 && w < (n - 3) / 3 + 1) {
    float sum = 0.0f;
    for (int channel = 0; channel < 3; ++channel) {
      for (int i = 0; i < 5; ++i) {
        for (int j = 0; j < 5; ++j) {
          int y = h * 3 - 1 + i;
          int x = w * 3 - 1 + j;
          if (y >= 0 && y < n && x >= 0 && x < n)
            sum += in[((image * 3 + channel) * n + y) * n + x] * weights[((c * 3 + channel) * 5 + i) * 5 + j];
        }
      }
    }
    out[((image * 16 + c) * ((n - 3) / 3 + 1) + h) * ((n - 3) / 3 + 1) + w] = sum + bias[c];
  }
})~",
       R"~(
sizes: {images: 2, n: 64}
args:
  in: {dir: in, shape: [images, 3, n, n]}
  weights: {dir: in, shape: [16, 3, 5, 5]}
  bias: {dir: in, shape: [16]}
  out: {dir: out, shape: [images, 16, "(n - 3) / 3 + 1", "(n - 3) / 3 + 1"]}
launch: {block: [32, 8], grid: ["cdiv((n - 3) / 3 + 1, bx)", "cdiv((n - 3) / 3 + 1, by)", "images * 16"]}
tests:
  - {images: 2, n: 29}
  - {images: 1, n: 112}
  - {images: 1, n: 3}
)~"},
      // Every other pixel, zeros chosen in the sum, sizes without signs, a factor for each channel.
      {"strided_channels", R"~(
__global__ void shrink(const float* in, const float* filter, const float* scale, float* out, unsigned channels, unsigned n) {
  unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
  if (2 * x < n && 2 * y < n) {
    float sum = 0.0f;
    for (unsigned c = 0; c < channels; ++c) {
      for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 4; ++j) {
          unsigned row = 2 * y + i, column = 2 * x + j;
          float value = row < n && column < n ? in[(c * n + row) * n + column] : 0.0f;
          sum = fmaf(value * scale[c], filter[i * 4 + j], sum);
        }
      }
    }
    out[y * ((n + 1) / 2) + x] = sum;
  }
})~",
       R"~(
sizes: {channels: 4, n: 64}
args:
  in: {dir: in, shape: [channels, n, n]}
  filter: {dir: in, shape: [16]}
  scale: {dir: in, shape: [channels]}
  out: {dir: out, shape: ["cdiv(n, 2)", "cdiv(n, 2)"]}
launch: {block: [16, 8], grid: ["cdiv(n, 2 * bx)", "cdiv(n, 2 * by)"]}
tests: [{channels: 3, n: 45}, {channels: 2, n: 64}, {channels: 1, n: 1}]
)~"},
      // Taps written out, each with its own condition, in integers.
      {"written_out_taps", R"~(
__global__ void edges(const int* in, const int* taps, int* out, int depth, int h, int w) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  bool up = y - 1 >= 0;
  bool down = y + 1 < h;
  bool left = x - 1 >= 0;
  bool right = x + 1 < w;
  int sum = 0;
  for (int c = 0; c < depth; ++c) {
    int at = (c * h + y) * w + x;
    int v0 = up ? in[at - w] : 0;
    int v1 = left ? in[at - 1] : 0;
    int v2 = in[at];
    int v3 = right ? in[at + 1] : 0;
    int v4 = down ? in[at + w] : 0;
    sum = sum + v0 * taps[c * 5];
    sum = sum + v1 * taps[c * 5 + 1];
    sum = sum + v2 * taps[c * 5 + 2];
    sum = sum + v3 * taps[c * 5 + 3];
    sum = sum + v4 * taps[c * 5 + 4];
  }
  out[y * w + x] = sum;
})~",
       R"~(
sizes: {depth: 4, h: 64, w: 96}
args:
  in: {dir: in, shape: [depth, h, w], init: "int(-9,9)"}
  taps: {dir: in, shape: [depth, 5], init: "int(-9,9)"}
  out: {dir: out, shape: [h, w]}
launch: {block: [32, 4], grid: ["cdiv(w, bx)", "cdiv(h, by)"]}
tests: [{depth: 3, h: 21, w: 45}, {depth: 2, h: 8, w: 64}, {depth: 1, h: 1, w: 1}]
)~"},
      // One value of the filter is a number that products with zero are not.
      {"infinite_tap", R"~(
__global__ void divided(const float* in, const float* filter, float* out, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x < n) {
    float sum = 0.0f;
    for (int i = 0; i < 5; ++i) {
      int at = x + i - 2;
      if (at >= 0 && at < n) sum += in[at] * (1.0f / filter[i]);
    }
    out[x] = sum;
  }
})~",
       R"~(
sizes: {n: 1000}
args:
  in: {dir: in, shape: [n], init: "uniform(0.5,1)"}
  filter: {dir: in, shape: [5], init: zeros}
  out: {dir: out, shape: [n]}
launch: {block: 64, grid: "cdiv(n, bx)"}
tests: [{n: 301}, {n: 256}, {n: 1}]
)~"},
  };
}

}  // namespace regraph::test
