// Counts numbers in 64 bins. A thread takes sixteen numbers that lie side by side, so a warp's load
// touches 32 lines, and each number goes to global memory by itself.
#define SHARE 16

__global__ void count_shares(const int* numbers, unsigned* bins, int n) {
  int begin = (blockIdx.x * blockDim.x + threadIdx.x) * SHARE;
  for (int k = begin; k < begin + SHARE; ++k) {
    if (k < n) {
      atomicAdd(&bins[numbers[k] >> 4], 1u);
    }
  }
}
