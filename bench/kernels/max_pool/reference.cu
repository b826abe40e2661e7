// The largest value of each 3 x 3 window; windows are two pixels apart and begin one pixel outside.
__global__ void max_pool(const float* in, float* out, int channels, int height, int width) {
  int rows = (height + 1) / 2, columns = (width + 1) / 2;
  for (int i = threadIdx.x; i < channels * rows * columns; i += blockDim.x) {
    int c = i / (rows * columns), oy = i / columns % rows, ox = i % columns;
    double peak = -INFINITY;
    for (int y = max(2 * oy - 1, 0); y <= min(2 * oy + 1, height - 1); ++y) {
      for (int x = max(2 * ox - 1, 0); x <= min(2 * ox + 1, width - 1); ++x) {
        peak = fmax(peak, (double)in[(c * height + y) * width + x]);
      }
    }
    out[i] = (float)peak;
  }
}
