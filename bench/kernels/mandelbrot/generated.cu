// parallel for over rows
__global__ void mandelbrot(int* counts, float left, float top, float step, int limit, int width, int height) {
  int v0 = blockIdx.x * blockDim.x + threadIdx.x;
  if (v0 >= height) return;
  float v1 = top + v0 * step;
  int v2 = 0;
  for (;;) {
    if (v2 >= width) break;
    float v3 = left + v2 * step;
    float v4 = 0.0f;
    float v5 = 0.0f;
    int v6 = 0;
    for (;;) {
      if (v6 >= limit) break;
      float v7 = v4 * v4 + v5 * v5;
      if (v7 > 4.0f) break;
      float v8 = v4 * v4 - v5 * v5 + v3;
      v5 = 2.0f * v4 * v5 + v1;
      v4 = v8;
      v6 = v6 + 1;
    }
    counts[v0 * width + v2] = v6;
    v2 = v2 + 1;
  }
}
