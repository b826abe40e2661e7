// Counts how often each of 256 values occurs: a block counts 32768 values in shared memory.
__global__ void histogram(const unsigned char* values, unsigned int* counts, int n) {
  __shared__ unsigned int own[256];
  own[threadIdx.x] = 0;
  __syncthreads();
  for (int round = 0; round < 128; ++round) {
    int i = (blockIdx.x * 128 + round) * blockDim.x + threadIdx.x;
    if (i < n) {
      atomicAdd(&own[values[i]], 1u);
    }
  }
  __syncthreads();
  if (own[threadIdx.x] != 0) {
    atomicAdd(&counts[threadIdx.x], own[threadIdx.x]);
  }
}
