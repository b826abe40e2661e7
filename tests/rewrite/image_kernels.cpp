// Convolutions: of several images, whose blocks are numbered by two things at once, and with a
// filter of any height.
#include "rewrite/sample_kernels.h"

namespace regraph::test {

std::vector<SampleKernel> image_kernels() {
  return {
      // Blocks are numbered by images and filters at once.
      {"image_filters", R"~(
__global__ void filters(const float* in, const float* weights, const float* bias, float* out, int channels, int filters,
                        int height, int width) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  int image = blockIdx.z / filters;
  int filter = blockIdx.z % filters;
  if (y < height - 2 && x < width - 2) {
    float sum = 0.0f;
    for (int channel = 0; channel < channels; ++channel) {
      for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
          sum += in[((image * channels + channel) * height + y + i) * width + x + j] *
                 weights[((filter * channels + channel) * 3 + i) * 3 + j];
        }
      }
    }
    out[((image * filters + filter) * (height - 2) + y) * (width - 2) + x] = sum + bias[filter];
  }
})~",
       R"~(
sizes: {images: 4, channels: 8, filters: 32, height: 34, width: 66}
args:
  in: {dir: in, shape: [images, channels, height, width]}
  weights: {dir: in, shape: [filters, channels, 3, 3]}
  bias: {dir: in, shape: [filters]}
  out: {dir: out, shape: [images, filters, height - 2, width - 2]}
launch: {block: [32, 8], grid: ["cdiv(width - 2, bx)", "cdiv(height - 2, by)", "images * filters"]}
tests: [{images: 2, channels: 3, filters: 5, height: 12, width: 37}, {images: 2, channels: 4, filters: 8, height: 10, width: 34}]
assume: {noalias: true, reassociate: true}
)~"},
      // Loops of constant lengths, and every second output.
      {"few_channels", R"~(
__global__ void convolution(const float* in, const float* weights, float* out, int extent) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  int image = blockIdx.z / 24;
  int filter = blockIdx.z % 24;
  if (y < (extent - 3) / 2 + 1 && x < (extent - 3) / 2 + 1) {
    float sum = 0.0f;
    for (int channel = 0; channel < 6; ++channel) {
      for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
          sum += in[((image * 6 + channel) * extent + 2 * y + i) * extent + 2 * x + j] * weights[((filter * 6 + channel) * 3 + i) * 3 + j];
        }
      }
    }
    out[((image * 24 + filter) * ((extent - 3) / 2 + 1) + y) * ((extent - 3) / 2 + 1) + x] = sum;
  }
})~",
       R"~(
sizes: {images: 4, extent: 67}
args:
  in: {dir: in, shape: [images, 6, extent, extent]}
  weights: {dir: in, shape: [24, 6, 3, 3]}
  out: {dir: out, shape: [images, 24, "(extent - 3) / 2 + 1", "(extent - 3) / 2 + 1"]}
launch: {block: [32, 8], grid: ["cdiv((extent - 3) / 2 + 1, bx)", "cdiv((extent - 3) / 2 + 1, by)", "images * 24"]}
tests: [{images: 2, extent: 21}, {images: 3, extent: 70}]
assume: {noalias: true, reassociate: true}
)~"},
      // Of boxes, with blocks for each plane and filter.
      {"volume_filters", R"~(
__global__ void volume(const float* in, const float* weights, float* out, int depth, int extent) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  int z = blockIdx.z / 16;
  int filter = blockIdx.z % 16;
  if (y < extent - 2 && x < extent - 2) {
    float sum = 0.0f;
    for (int channel = 0; channel < 2; ++channel) {
      for (int h = 0; h < 2; ++h) {
        for (int i = 0; i < 3; ++i) {
          for (int j = 0; j < 3; ++j) {
            sum += in[((channel * depth + z + h) * extent + y + i) * extent + x + j] * weights[(((filter * 2 + channel) * 2 + h) * 3 + i) * 3 + j];
          }
        }
      }
    }
    out[((filter * (depth - 1) + z) * (extent - 2) + y) * (extent - 2) + x] = sum;
  }
})~",
       R"~(
sizes: {depth: 32, extent: 66}
args:
  in: {dir: in, shape: [2, depth, extent, extent]}
  weights: {dir: in, shape: [16, 2, 2, 3, 3]}
  out: {dir: out, shape: [16, "depth - 1", "extent - 2", "extent - 2"]}
launch: {block: [32, 8], grid: ["cdiv(extent - 2, bx)", "cdiv(extent - 2, by)", "16 * (depth - 1)"]}
tests: [{depth: 3, extent: 13}, {depth: 2, extent: 36}]
assume: {noalias: true, reassociate: true}
)~"},
      // Every output takes the taps that its place divides: one in two rows, two in three columns
      // away.
      {"upsampled_layer", R"~(
__global__ void upsampled(const float* in, const float* weights, float* out, int channels, int height, int width) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (y < (height - 1) * 2 + 3 && x < (width - 1) * 3 + 5) {
    float sum = 0.0f;
    for (int channel = 0; channel < channels; ++channel) {
      for (int i = 0; i < 5; ++i) {
        for (int j = 0; j < 4; ++j) {
          int shifted_y = y + 1 - i;
          int shifted_x = x - 2 - j * 2;
          if (shifted_y >= 0 && shifted_y % 2 == 0 && shifted_y / 2 < height && shifted_x >= 0 && shifted_x % 3 == 0 && shifted_x / 3 < width) {
            sum += in[(channel * height + shifted_y / 2) * width + shifted_x / 3] * weights[(channel * 5 + i) * 4 + j];
          }
        }
      }
    }
    out[y * ((width - 1) * 3 + 5) + x] = sum;
  }
})~",
       R"~(
sizes: {channels: 16, height: 64, width: 64}
args:
  in: {dir: in, shape: [channels, height, width]}
  weights: {dir: in, shape: [channels, 5, 4]}
  out: {dir: out, shape: ["(height - 1) * 2 + 3", "(width - 1) * 3 + 5"]}
launch: {block: [32, 8], grid: ["cdiv((width - 1) * 3 + 5, bx)", "cdiv((height - 1) * 2 + 3, by)"]}
tests: [{channels: 3, height: 12, width: 13}, {channels: 4, height: 8, width: 24}]
assume: {noalias: true, reassociate: true}
)~"},
      {"tall_filter", R"~(
__global__ void tall_filter(const float* image, const float* weights, float* out, int width,
                            int height, int taps) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (col >= width || row >= height) return;
  float value = 0.0f;
  for (int fy = 0; fy < taps; fy++) {
    for (int fx = 0; fx < 3; fx++) {
      int y = row - 2 + fy;
      int x = col - 1 + fx;
      float pixel = (y >= 0 && y < height && x >= 0 && x < width) ? image[y * width + x] : 0.0f;
      value += pixel * weights[fy * 3 + fx];
    }
  }
  out[row * width + col] = value;
})~",
       R"~(
sizes: {width: 128, height: 64, taps: 7}
args:
  image: {dir: in, shape: [height, width]}
  weights: {dir: in, shape: [taps, 3]}
  out: {dir: out, shape: [height, width]}
launch: {block: [32, 8], grid: ["cdiv(width, bx)", "cdiv(height, by)"]}
tests: [{width: 101, height: 67, taps: 7}, {width: 33, height: 5, taps: 4}]
)~"},
  };
}

}  // namespace regraph::test
