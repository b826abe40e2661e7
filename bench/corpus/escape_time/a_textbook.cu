// Steps until z^2 + c leaves the circle of radius 2: one thread a pixel of the plane, real parts
// given a column, imaginary parts a row. Two products are computed twice in a step.
__global__ void mandelbrot(const float* re, const float* im, int* steps, int width, int height,
                           int limit) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) {
    float a = 0.0f, b = 0.0f;
    int n = 0;
    while (n < limit && a * a + b * b <= 4.0f) {
      float t = a * a - b * b + re[x];
      b = 2.0f * a * b + im[y];
      a = t;
      n++;
    }
    steps[y * width + x] = n;
  }
}
