// Sums in double precision.
__global__ void k(const float* x, float* y, int R, int C) {
  if (threadIdx.x != 0) return;
  double sum = 0.0;
  for (int c = 0; c < C; ++c) sum += x[blockIdx.x * C + c];
  y[blockIdx.x] = (float)(sum / C);
}
