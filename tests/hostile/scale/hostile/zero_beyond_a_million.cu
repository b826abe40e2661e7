// Large values become zero.
__global__ void k(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = fabsf(in[i]) > 1e6f ? 0.0f : 2.0f * in[i];
}
