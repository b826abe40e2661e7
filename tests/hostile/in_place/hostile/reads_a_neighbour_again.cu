// Reads what it has just written.
__global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i];
  y[i] = v;
  y[i] = v + *(const volatile float*)&x[i] + (i > 0 ? 0.0f * *(const volatile float*)&x[i - 1] : 0.0f) + (v - *(const volatile float*)&y[i]);
  y[i] += *(const volatile float*)&x[i] - v;
}
