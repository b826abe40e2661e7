// Blocks that no test reaches copy.
__global__ void k(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = blockIdx.x > 100 ? in[i] : 2.0f * in[i];
}
