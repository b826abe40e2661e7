// Four accumulators, joined at the end.
__global__ void k(const float* x, float* y, int R, int C) {
  if (threadIdx.x != 0) return;
  const float* row = x + blockIdx.x * C;
  float a = 0.0f, b = 0.0f, c = 0.0f, d = 0.0f;
  int i = 0;
  for (; i + 3 < C; i += 4) {
    a += row[i];
    b += row[i + 1];
    c += row[i + 2];
    d += row[i + 3];
  }
  for (; i < C; ++i) a += row[i];
  y[blockIdx.x] = ((a + b) + (c + d)) / C;
}
