// A warp shares maximum and sum.
__global__ void k(const float* x, float* y, int R, int C) {
  const float* row = x + blockIdx.x * C;
  float* out = y + blockIdx.x * C;
  float top = -INFINITY, sum = 0.0f;
  for (int c = threadIdx.x; c < C; c += 32) top = fmaxf(top, row[c]);
  for (int d = 16; d > 0; d /= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, d));
  for (int c = threadIdx.x; c < C; c += 32) sum += expf(row[c] - top);
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
  for (int c = threadIdx.x; c < C; c += 32) out[c] = expf(row[c] - top) / sum;
}
