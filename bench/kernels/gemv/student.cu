// Matrix times vector
__global__ void gemv(const float* A, const float* x, float* y, int rows, int columns) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows) {
    y[i] = 0;
    for (int j = 0; j < columns; j++) {
      y[i] += A[i * columns + j] * x[j];
    }
  }
}
