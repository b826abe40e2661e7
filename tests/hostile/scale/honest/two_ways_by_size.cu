// Large vectors from the end, small ones from the start.
__global__ void k(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (n > 500000) i = n - 1 - i;
  out[i] = 2.0f * in[i];
}
