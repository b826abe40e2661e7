// NaN by itself; zeros may lose their sign.
__global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i];
  y[i] = isnan(v) ? v : fmaxf(v, 0.0f);
}
