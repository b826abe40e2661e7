// Block sums: partial[b] is the sum of block b's elements of in. The tree doubles its stride, so in
// every round the active threads are spread over all warps.
__global__ void block_sum(
    const float* in,
    float* partial,
    int n) {
  __shared__ float values[8][256];
  unsigned int t = threadIdx.x;
  float value[8];
  #pragma unroll
  for (int cx = 0; cx < 8; ++cx) {
    unsigned int i = (blockIdx.x * 8 + cx) * blockDim.x + threadIdx.x;
    if ((int)(blockIdx.x * 8 + cx) < (n + 255) / 256) {
      value[cx] = i < n ? in[i] : 0.0f;
    }
  }
  #pragma unroll
  for (int offset = 16; offset > 0; offset >>= 1) {
    #pragma unroll
    for (int cx = 0; cx < 8; ++cx) {
      value[cx] += __shfl_down_sync(0xffffffffu, value[cx], offset);
    }
  }
  #pragma unroll
  for (int cx = 0; cx < 8; ++cx) {
    if (threadIdx.x % 32 == 0) {
      values[cx][threadIdx.x / 32] = value[cx];
    }
  }
  __syncthreads();
  #pragma unroll
  for (int cx = 0; cx < 8; ++cx) {
    if (threadIdx.x < 32) {
      value[cx] = values[cx][threadIdx.x % 8];
      #pragma unroll
      for (int warp_offset = 4; warp_offset > 0; warp_offset >>= 1) {
        value[cx] += __shfl_down_sync(0xffffffffu, value[cx], warp_offset);
      }
      if (threadIdx.x == 0) {
        values[cx][0] = value[cx];
      }
    }
  }
  __syncthreads();
  #pragma unroll
  for (int cx = 0; cx < 8; ++cx) {
    if ((int)(blockIdx.x * 8 + cx) < (n + 255) / 256) {
      if (t == 0) {
        partial[blockIdx.x * 8 + cx] = values[cx][0];
      }
    }
  }
}
