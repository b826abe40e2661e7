// A bin that takes all of a large input does not fit.
__global__ void k(const int* data, unsigned int* bins, int n, int b) {
  __shared__ unsigned int count[16];
  if (threadIdx.x < 16) count[threadIdx.x] = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += 128) atomicAdd(&count[data[i]], 1u);
  __syncthreads();
  if (threadIdx.x < 16) bins[threadIdx.x] += count[threadIdx.x] & 0x3ffff;
}
