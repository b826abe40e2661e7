// The factor from constant memory.
__constant__ float factors[4] = {2.0f, 2.0f, 2.0f, 2.0f};
__global__ void k(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = factors[i & 3] * in[i];
}
