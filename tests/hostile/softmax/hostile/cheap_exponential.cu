// A polynomial in place of the exponential.
__global__ void k(const float* x, float* y, int R, int C) {
  const float* row = x + blockIdx.x * C;
  float* out = y + blockIdx.x * C;
  auto cheap = [](float v) {
    float t = fmaxf(0.0f, 1.0f + v / 1024.0f);
    for (int i = 0; i < 10; ++i) t *= t;
    return t;
  };
  float top = -INFINITY, sum = 0.0f;
  for (int c = 0; c < C; ++c) top = fmaxf(top, row[c]);
  for (int c = 0; c < C; ++c) sum += cheap(row[c] - top);
  for (int c = threadIdx.x; c < C; c += blockDim.x) out[c] = cheap(row[c] - top) / sum;
}
