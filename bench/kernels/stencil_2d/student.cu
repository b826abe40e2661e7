// One step of the heat equation
__global__ void stencil_2d(const float* in, float* out, int height, int width) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) {
    return;
  }
  int i = y * width + x;
  if (x > 0 && x < width - 1 && y > 0 && y < height - 1) {
    out[i] = 0.5f * in[i] + 0.125f * (in[i - 1] + in[i + 1] + in[i - width] + in[i + width]);
  } else {
    out[i] = in[i];
  }
}
