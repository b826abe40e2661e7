// Counts how often each of 256 values occurs: a block counts in shared memory first.
__global__ void histogram(const unsigned char* values, unsigned int* counts, int n) {
  __shared__ unsigned int own[256];
  own[threadIdx.x] = 0;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    atomicAdd(&own[values[i]], 1u);
  }
  __syncthreads();
  if (own[threadIdx.x] != 0) {
    atomicAdd(&counts[threadIdx.x], own[threadIdx.x]);
  }
}
