// Counts every second element twice.
__global__ void k(const int* data, unsigned int* bins, int n, int b) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && i % 2 == 0) atomicAdd(&bins[data[i]], i + 1 < n ? 2u : 1u);
}
