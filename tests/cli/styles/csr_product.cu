__global__ void multiply(const int* offsets, const int* columns, const double* values, const double* x, double* y,
                         int rows) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  double sum = 0.0;
  for (int j = offsets[row]; j < offsets[row + 1]; ++j) sum += values[j] * x[columns[j]];
  y[row] = sum;
}
