// Mandelbrot set
__global__ void mandelbrot(int* counts, float left, float top, float step, int limit, int width, int height) {
  int px = blockIdx.x * blockDim.x + threadIdx.x;
  int py = blockIdx.y * blockDim.y + threadIdx.y;
  if (px < width && py < height) {
    float cx = left + px * step;
    float cy = top + py * step;
    float x = 0.0f;
    float y = 0.0f;
    int n = 0;
    while (n < limit && x * x + y * y <= 4.0f) {
      float new_x = x * x - y * y + cx;
      y = 2.0f * x * y + cy;
      x = new_x;
      n++;
    }
    counts[py * width + px] = n;
  }
}
