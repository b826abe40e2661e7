// Running sum along each row.
__global__ void prefix_rows(const float* x, float* out, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) {
    out[row * columns] = x[row * columns];
    for (int i = 1; i < columns; i++) {
      out[row * columns + i] = out[row * columns + i - 1] + x[row * columns + i];
    }
  }
}
