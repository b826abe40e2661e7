// How many steps of z = z^2 + c stay within the circle of radius 2, at most limit.
__global__ void mandelbrot(int* counts, float left, float top, float step, int limit, int width, int height) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= height * width) return;
  float cx = left + (i % width) * step;
  float cy = top + (i / width) * step;
  float x = 0.0f, y = 0.0f;
  int count = 0;
  while (count < limit && x * x + y * y <= 4.0f) {
    float next = x * x - y * y + cx;
    y = 2.0f * x * y + cy;
    x = next;
    ++count;
  }
  counts[i] = count;
}
