// Every block reads the whole table of m elements: L2 bandwidth while the table fits there.
__global__ void reread(const float* table, float* out, int n, int m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0.0f;
  for (int k = threadIdx.x; k < m; k += blockDim.x) sum += table[k];
  if (i < n) out[i] = sum;
}
