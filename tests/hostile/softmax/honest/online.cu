// Maximum and sum in one pass, and a reciprocal.
__global__ void k(const float* x, float* y, int R, int C) {
  const float* row = x + blockIdx.x * C;
  float* out = y + blockIdx.x * C;
  float top = -INFINITY, sum = 0.0f;
  for (int c = 0; c < C; ++c) {
    float next = fmaxf(top, row[c]);
    sum = sum * expf(top - next) + expf(row[c] - next);
    top = next;
  }
  float scale = 1.0f / sum;
  for (int c = threadIdx.x; c < C; c += blockDim.x) out[c] = expf(row[c] - top) * scale;
}
