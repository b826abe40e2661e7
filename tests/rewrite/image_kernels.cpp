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
