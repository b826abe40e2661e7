// Warps of 8 x 4 pixels instead of 32 x 1: their lanes stop at nearly the same time. The arithmetic stays as it is, since
// counts have to agree in every pixel.
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
  while (count < limit && x * x + y * y <= 4.0f) {
    const float next = x * x - y * y + cx;
    y = 2.0f * x * y + cy;
    x = next;
    ++count;
  }
  counts[py * width + px] = count;
}
