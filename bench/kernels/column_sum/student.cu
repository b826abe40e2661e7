// Sum of each column of a matrix, one thread a column.
__global__ void column_sum(const float* x, float* sums, int rows, int columns) {
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column < columns) {
    float sum = 0.0f;
    for (int row = 0; row < rows; row++) {
      sum += x[row * columns + column];
    }
    sums[column] = sum;
  }
}
