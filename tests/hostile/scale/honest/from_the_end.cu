// The blocks take the elements from the last to the first.
__global__ void k(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[n - 1 - i] = 2.0f * in[n - 1 - i];
}
