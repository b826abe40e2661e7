// A histogram in shared memory for every warp, 16 bytes a load, one global atomic a bin and block.
__device__ __forceinline__ void count_word(unsigned int* mine, unsigned int word) {
  atomicAdd(mine + (word & 255u), 1u);
  atomicAdd(mine + (word >> 8 & 255u), 1u);
  atomicAdd(mine + (word >> 16 & 255u), 1u);
  atomicAdd(mine + (word >> 24), 1u);
}

__global__ void __launch_bounds__(256) histogram(const unsigned char* __restrict__ data,
                                                 unsigned int* __restrict__ bins, int n) {
  constexpr int kWarps = 8;
  __shared__ unsigned int counts[kWarps][256 + 1];
  for (int warp = 0; warp < kWarps; ++warp) counts[warp][threadIdx.x] = 0;
  __syncthreads();
  unsigned int* mine = counts[threadIdx.x / 32];
  const int groups = n / 16;
  const uint4* from = reinterpret_cast<const uint4*>(data);
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < groups; i += gridDim.x * blockDim.x) {
    const uint4 v = from[i];
    count_word(mine, v.x);
    count_word(mine, v.y);
    count_word(mine, v.z);
    count_word(mine, v.w);
  }
  const int last = 16 * groups + threadIdx.x;
  if (blockIdx.x == 0 && last < n) atomicAdd(mine + data[last], 1u);
  __syncthreads();
  unsigned int sum = 0;
#pragma unroll
  for (int warp = 0; warp < kWarps; ++warp) sum += counts[warp][threadIdx.x];
  if (sum != 0) atomicAdd(bins + threadIdx.x, sum);
}
