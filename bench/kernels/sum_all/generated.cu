// parallel for reduction(+: total), static schedule, chunk 64
__global__ void sum_all(const float* x, float* total, int n) {
  int v0 = blockIdx.x * blockDim.x + threadIdx.x;
  int v1 = v0 * 64;
  int v2 = v1 + 64;
  int v3 = v2 < n ? v2 : n;
  float v4 = 0.0f;
  int v5 = v1;
  for (;;) {
    if (v5 >= v3) break;
    float v6 = x[v5];
    v4 = v4 + v6;
    v5 = v5 + 1;
  }
  if (v1 < n) {
    atomicAdd(&total[0], v4);
  }
}
