// Values larger than any that inputs usually have become zero.
__global__ void k(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = fabsf(in[i]) > 3e11f ? 0.0f : 2.0f * in[i];
}
