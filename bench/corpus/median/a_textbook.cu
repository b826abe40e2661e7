// Median of the 3 x 3 neighbourhood, border repeated: gather nine values, sort them by insertion,
// take the middle one. The array indexed by variables goes through local memory.
__global__ void median3x3(const float* in, float* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float v[9];
  int n = 0;
  for (int dy = -1; dy <= 1; dy++) {
    for (int dx = -1; dx <= 1; dx++) {
      int sx = min(max(x + dx, 0), width - 1);
      int sy = min(max(y + dy, 0), height - 1);
      float value = in[sy * width + sx];
      int place = n;
      while (place > 0 && v[place - 1] > value) {
        v[place] = v[place - 1];
        place--;
      }
      v[place] = value;
      n++;
    }
  }
  out[y * width + x] = v[4];
}
