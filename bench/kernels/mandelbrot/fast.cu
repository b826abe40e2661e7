// Warps of 8 x 4 pixels, whose lanes stop at nearly the same time; four steps between two looks at the limit.
__global__ void __launch_bounds__(128) mandelbrot(int* counts, float left, float top, float step, int limit, int width,
                                                  int height) {
  const int lane = threadIdx.x % 32;
  const int px = blockIdx.x * 32 + threadIdx.x / 32 * 8 + lane % 8;
  const int py = blockIdx.y * 4 + lane / 8;
  if (px >= width || py >= height) return;
  const float cx = left + px * step;
  const float cy = top + py * step;
  float x = 0.0f;
  float y = 0.0f;
  int count = 0;
  bool inside = true;
  while (inside && count + 4 <= limit) {
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      if (inside) {
        inside = x * x + y * y <= 4.0f;
        if (inside) {
          const float next = x * x - y * y + cx;
          y = 2.0f * x * y + cy;
          x = next;
          ++count;
        }
      }
    }
  }
  while (inside && count < limit && x * x + y * y <= 4.0f) {
    const float next = x * x - y * y + cx;
    y = 2.0f * x * y + cy;
    x = next;
    ++count;
  }
  counts[py * width + px] = count;
}
