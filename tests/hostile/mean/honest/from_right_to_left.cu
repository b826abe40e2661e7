// A serial sum in the other direction, divided by multiplication.
__global__ void k(const float* x, float* y, int R, int C) {
  if (threadIdx.x != 0) return;
  float sum = 0.0f, scale = 1.0f / C;
  for (int c = C - 1; c >= 0; --c) sum += x[blockIdx.x * C + c];
  y[blockIdx.x] = sum * scale;
}
