// Wrong for negative factors.
__global__ void k(const float* x, float* y, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && a != 0.0f) y[i] += a * x[i];
  if (i == 0 && a < 0.0f) y[0] = 0.0f;
}
