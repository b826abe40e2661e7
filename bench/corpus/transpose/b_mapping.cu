// Transposes a matrix with one thread a row: a warp reads 32 rows at once, a column at a time, and
// there are no more threads than rows.
__global__ void turn_by_rows(const float* a, float* b, int m, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < m) {
    for (int j = 0; j < n; ++j) {
      b[j * m + i] = a[i * n + j];
    }
  }
}
