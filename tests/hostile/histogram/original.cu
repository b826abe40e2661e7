// Counts how often each value occurs.
__global__ void k(const int* data, unsigned int* bins, int n, int b) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[data[i]], 1u);
}
