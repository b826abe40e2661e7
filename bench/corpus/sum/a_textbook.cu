// The sum of every row of a matrix, one thread a row: a warp's loads are a row apart.
__global__ void row_sums(const float* matrix, float* sums, int rows, int columns) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < rows) {
    float total = 0.0f;
    for (int c = 0; c < columns; ++c) {
      total += matrix[r * columns + c];
    }
    sums[r] = total;
  }
}
