// Sparse matrix (CSR) times vector, scalar version
__global__ void csr_spmv(const int* offsets, const int* columns, const float* values, const float* x, float* y,
                         int rows) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) {
    float dot = 0.0f;
    int start = offsets[row];
    int end = offsets[row + 1];
    for (int j = start; j < end; j++) {
      dot += values[j] * x[columns[j]];
    }
    y[row] = dot;
  }
}
