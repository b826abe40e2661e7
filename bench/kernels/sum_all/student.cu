// Sum of an array: shared memory and a tree in each block, then one atomic operation.
__global__ void sum_all(const float* x, float* total, int n) {
  __shared__ float cache[256];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  cache[threadIdx.x] = 0.0f;
  if (i < n) {
    cache[threadIdx.x] = x[i];
  }
  __syncthreads();
  for (int stride = 1; stride < blockDim.x; stride = stride * 2) {
    if (threadIdx.x % (2 * stride) == 0) {
      cache[threadIdx.x] += cache[threadIdx.x + stride];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    atomicAdd(total, cache[0]);
  }
}
