// Root-mean-square normalisation of each row in two kernels: the factors of the rows, one thread a
// row, then the scaling.
__global__ void row_factors(const float* x, float* factor, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) {
    float sum = 0.0f;
    for (int column = 0; column < columns; ++column) {
      float value = x[row * columns + column];
      sum += value * value;
    }
    factor[row] = rsqrtf(sum / columns + 1e-5f);
  }
}

__global__ void scale_rows(const float* x, const float* factor, const float* weight, float* y,
                           int rows, int columns) {
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y;
  if (column < columns && row < rows) {
    y[row * columns + column] = x[row * columns + column] * factor[row] * weight[column];
  }
}
