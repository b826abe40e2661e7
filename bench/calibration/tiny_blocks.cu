// Blocks of one warp that do next to nothing: launching and retiring blocks.
__global__ void tiny_blocks(const float* in, float* out, int n) {
  int i = blockIdx.x * 32 + threadIdx.x;
  if (i < n && threadIdx.x == 0) out[blockIdx.x] = in[blockIdx.x];
}
