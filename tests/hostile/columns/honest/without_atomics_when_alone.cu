// One block a column needs no atomics.
__global__ void k(const float* x, float* y, int R, int C) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= C || blockIdx.y != 0) return;
  float sum = 0.0f;
  for (int r = 0; r < R; ++r) sum += x[r * C + c];
  y[c] += sum;
}
