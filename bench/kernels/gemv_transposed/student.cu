// Transposed matrix times vector, added to y
__global__ void gemv_transposed(const float* A, const float* x, float* y, int rows, int columns) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j < columns) {
    for (int i = 0; i < rows; i++) {
      y[j] += A[i * columns + j] * x[i];
    }
  }
}
