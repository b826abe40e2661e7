// Writes half of the output; the rest may hold an earlier result.
__global__ void k(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < (n + 1) / 2 - 1) out[i] = 2.0f * in[i];
}
