// A row-major matrix times a vector, one thread a row: the warp reads one column of 32 rows at a
// time.
__global__ void matrix_times_vector(const float* a, const float* x, float* y, int rows,
                                    int columns) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows) {
    float sum = 0.0f;
    for (int j = 0; j < columns; ++j) {
      sum += a[i * columns + j] * x[j];
    }
    y[i] = sum;
  }
}
