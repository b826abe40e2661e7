// Atomic additions to m counters, spread by the data.
__global__ void counters(const int* in, int* counts, int n, int m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&counts[in[i] % m], 1);
}
