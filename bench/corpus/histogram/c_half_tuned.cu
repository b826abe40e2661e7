// Counts numbers in 64 bins, each block in its own shared counters first. There are as many blocks
// as 256 numbers fit in, and every one adds all 64 counters to global memory at its end.
#define BINS 64

__global__ void count_in_blocks(const int* __restrict__ numbers, int* __restrict__ bins, int n) {
  __shared__ int local[BINS];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x < BINS) {
    local[threadIdx.x] = 0;
  }
  __syncthreads();
  if (i < n) {
    atomicAdd(&local[numbers[i] / 16], 1);
  }
  __syncthreads();
  if (threadIdx.x < BINS) {
    atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
  }
}
