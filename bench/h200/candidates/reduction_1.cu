// Block sums: partial[b] is the sum of block b's elements of in. The tree doubles its stride, so in
// every round the active threads are spread over all warps.
__global__ void block_sum(
    const float* in,
    float* partial,
    int n) {
  __shared__ float values[256];
  unsigned int t = threadIdx.x;
  unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
  float value = i < n ? in[i] : 0.0f;
  #pragma unroll
  for (int offset = 16; offset > 0; offset >>= 1) {
    value += __shfl_down_sync(0xffffffffu, value, offset);
  }
  if (threadIdx.x % 32 == 0) {
    values[threadIdx.x / 32] = value;
  }
  __syncthreads();
  if (threadIdx.x < 32) {
    value = values[threadIdx.x % 8];
    #pragma unroll
    for (int warp_offset = 4; warp_offset > 0; warp_offset >>= 1) {
      value += __shfl_down_sync(0xffffffffu, value, warp_offset);
    }
    if (threadIdx.x == 0) {
      values[0] = value;
    }
  }
  __syncthreads();
  if (t == 0) {
    partial[blockIdx.x] = values[0];
  }
}
