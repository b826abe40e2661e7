// A histogram a block, added to the result at the end.
__global__ void k(const int* data, unsigned int* bins, int n, int b) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  __shared__ unsigned int s[16];
  if (threadIdx.x < 16) s[threadIdx.x] = 0;
  __syncthreads();
  if (i < n) atomicAdd(&s[data[i]], 1u);
  __syncthreads();
  if (threadIdx.x < 16 && s[threadIdx.x] != 0) atomicAdd(&bins[threadIdx.x], s[threadIdx.x]);
}
