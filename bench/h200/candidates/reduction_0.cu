// Block sums: partial[b] is the sum of block b's elements of in. The tree doubles its stride, so in
// every round the active threads are spread over all warps.
__global__ void block_sum(
    const float* in,
    float* partial,
    int n) {
  __shared__ float values[256];
  unsigned int t = threadIdx.x;
  unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
  values[t] = i < n ? in[i] : 0.0f;
  __syncthreads();
  for (unsigned int stride = 1; stride < blockDim.x; stride *= 2) {
    if (t % (2 * stride) == 0) {
      values[t] += values[t + stride];
    }
    __syncthreads();
  }
  if (t == 0) {
    partial[blockIdx.x] = values[0];
  }
}
