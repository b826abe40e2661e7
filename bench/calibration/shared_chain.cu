// A chain of dependent reads of shared memory: its latency with few warps, its bandwidth with many.
__global__ void shared_chain(const int* start, int* out, int n, int rounds) {
  __shared__ int table[1024];
  for (int k = threadIdx.x; k < 1024; k += blockDim.x) table[k] = (k * 5 + 7) & 1023;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    int at = start[i] & 1023;
    for (int k = 0; k < rounds; ++k) at = table[at];
    out[i] = at;
  }
}
