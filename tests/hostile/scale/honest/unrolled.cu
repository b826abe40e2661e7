// Four elements a thread, a block apart.
__global__ void k(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int base = blockIdx.x * blockDim.x * 4 + threadIdx.x;
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    int at = base + j * blockDim.x;
    if (at < n) out[at] = 2.0f * in[at];
  }
}
