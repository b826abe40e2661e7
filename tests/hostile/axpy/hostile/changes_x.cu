// Uses the input as scratch space.
__global__ void k(const float* x, float* y, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const_cast<float*>(x)[i] *= a;
  y[i] += x[i];
}
