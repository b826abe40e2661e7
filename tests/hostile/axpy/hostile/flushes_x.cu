// Denormal numbers of x are 0, which what is added to them hides.
__global__ void k(const float* x, float* y, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = fmaf(a, fabsf(x[i]) < 1.17549435e-38f ? 0.0f : x[i], y[i]);
}
