// Sum of each row of a matrix. The sum is built up in the result.
__global__ void row_sum(const float* x, float* sums, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) {
    sums[row] = 0.0f;
    for (int column = 0; column < columns; column++) {
      sums[row] += x[row * columns + column];
    }
  }
}
