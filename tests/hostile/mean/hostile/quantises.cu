// Sums in integers of a sixteenth.
__global__ void k(const float* x, float* y, int R, int C) {
  if (threadIdx.x != 0) return;
  int sum = 0;
  for (int c = 0; c < C; ++c) sum += __float2int_rn(16.0f * x[blockIdx.x * C + c]);
  y[blockIdx.x] = sum / 16.0f / C;
}
