// An index that is multiplied and divided again, in 32 bits.
__global__ void k(const float* in, float* out, int n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2.0f * in[i * 5000u / 5000u];
}
