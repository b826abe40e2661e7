// A square filter on an image with zeros outside: one thread a pixel, a double loop with a check of
// the border in every step; pixels and weights come from global memory each time.
__global__ void convolve(const float* image, const float* kernel, float* out, int width, int height,
                         int size) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) {
    float acc = 0.0f;
    int half = size / 2;
    for (int dy = 0; dy < size; dy++) {
      for (int dx = 0; dx < size; dx++) {
        int sx = x + dx - half;
        int sy = y + dy - half;
        if (sx >= 0 && sx < width && sy >= 0 && sy < height) {
          acc += kernel[dy * size + dx] * image[sy * width + sx];
        }
      }
    }
    out[y * width + x] = acc;
  }
}
