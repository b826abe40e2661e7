// Where both are one buffer the input is lost.
__global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  *(volatile float*)&y[i] = 0.0f;
  y[i] = 2.0f * *(const volatile float*)&x[i];
}
