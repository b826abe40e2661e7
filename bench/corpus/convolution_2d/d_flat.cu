// Convolution layer: 3 x 3 filters over several input channels, several output maps. A flat index
// over [map][y][x] taken apart with / and %, all operands straight from global memory.
__global__ void conv_layer(const float* input, const float* filters, float* output, int maps,
                           int channels, int height, int width) {
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  int plane = height * width;
  if (id >= maps * plane) return;
  int o = id / plane;
  int y = id % plane / width;
  int x = id % width;
  float sum = 0.0f;
  for (int c = 0; c < channels; ++c)
    for (int ky = 0; ky < 3; ++ky)
      for (int kx = 0; kx < 3; ++kx) {
        float f = filters[((o * channels + c) * 3 + ky) * 3 + kx];
        sum += f * input[(c * (height + 2) + y + ky) * (width + 2) + x + kx];
      }
  output[id] = sum;
}
