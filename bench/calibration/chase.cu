// Every thread follows indices through a table of m entries (a power of two): latency of the L1, the
// L2 or DRAM by the table's size, as few warps are there to hide it.
__global__ void chase(const int* next, int* out, int n, int m, int rounds) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    int at = i & (m - 1);
    for (int k = 0; k < rounds; ++k) at = next[(at * 40503 + i + k) & (m - 1)];
    out[i] = at;
  }
}
