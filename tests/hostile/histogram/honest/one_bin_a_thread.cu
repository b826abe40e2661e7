// Every thread counts one value, without atomics.
__global__ void k(const int* data, unsigned int* bins, int n, int b) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= b) return;
  unsigned int count = 0;
  for (int j = 0; j < n; ++j) count += data[j] == i;
  bins[i] += count;
}
