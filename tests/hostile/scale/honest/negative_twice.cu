// Signs of zeros and NaN come through.
__global__ void k(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = -(-2.0f * in[i]);
}
