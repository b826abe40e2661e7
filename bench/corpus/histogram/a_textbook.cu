// Counts how many of the numbers fall into each of 64 bins of width 16; one thread a number, all
// counting in global memory.
__global__ void count_bins(const int* numbers, int* bins, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    atomicAdd(&bins[numbers[i] / 16], 1);
  }
}
