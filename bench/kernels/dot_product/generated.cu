// parallel for reduction(+: result), static schedule, chunk 32
__global__ void dot_product(const float* x, const float* y, float* result, int n) {
  long long v0 = ((long long)blockIdx.x * blockDim.x + threadIdx.x) * 32LL;
  float v1 = 0.0f;
  long long v2 = 0LL;
  for (;;) {
    if (!(v2 < 32LL)) break;
    long long v3 = v0 + v2;
    if (v3 < (long long)n) {
      float v4 = x[v3];
      float v5 = y[v3];
      float v6 = v4 * v5;
      v1 = v1 + v6;
    }
    v2 = v2 + 1LL;
  }
  atomicAdd(result, v1);
}
