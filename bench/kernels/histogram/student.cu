// Counts how often each byte occurs. Several threads may hit the same bin, so an atomic is needed.
__global__ void histogram(const unsigned char* data, unsigned int* bins, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    atomicAdd(&bins[data[i]], 1);
  }
}
