// Loses what other blocks add at the same time.
__global__ void k(const float* x, float* y, int R, int C) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= C) return;
  float sum = 0.0f;
  for (int r = blockIdx.y; r < R; r += gridDim.y) sum += x[r * C + c];
  y[c] += sum;
}
