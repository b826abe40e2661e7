// The sign is a bit.
__global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __int_as_float(__float_as_int(x[i]) ^ 0x80000000);
}
