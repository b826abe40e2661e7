// Counts how often each of 256 values occurs: every thread adds to a counter in global memory.
__global__ void histogram(const unsigned char* values, unsigned int* counts, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    atomicAdd(&counts[values[i]], 1u);
  }
}
