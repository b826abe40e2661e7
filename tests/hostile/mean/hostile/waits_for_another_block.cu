// Takes part of its result from a block that may not have run yet.
__global__ void k(const float* x, float* y, int R, int C) {
  if (threadIdx.x != 0) return;
  float sum = 0.0f;
  for (int c = 0; c < C; ++c) sum += x[blockIdx.x * C + c];
  y[blockIdx.x] = sum / C;
  if (blockIdx.x > 0) {
    float before = 0.0f;
    for (int c = 0; c < C; ++c) before += x[(blockIdx.x - 1) * C + c];
    y[blockIdx.x] += y[blockIdx.x - 1] - before / C;
  }
}
