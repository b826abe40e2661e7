// One step of the 5-point heat equation; the border keeps its values and is not written.
__global__ void stencil2d(const float* now, float* next, float rate, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x > 0 && x < width - 1 && y > 0 && y < height - 1) {
    float centre = now[y * width + x];
    float around = now[y * width + x - 1] + now[y * width + x + 1] + now[(y - 1) * width + x] +
                   now[(y + 1) * width + x];
    next[y * width + x] = centre + rate * (around - 4.0f * centre);
  }
}
