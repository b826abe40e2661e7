extern "C" __global__ void negate(float* __restrict__ x, unsigned int n) {
  unsigned int i = blockDim.x * blockIdx.x + threadIdx.x;
  if (i < n) x[i] = -x[i];
}
