__global__ void normalize_rows(float* __restrict__ matrix, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < rows) {
    float* row = matrix + (long)r * cols;
    float sum = 0.f;
    for (int c = 0; c < cols; ++c)
      sum += row[c];
    for (int c = 0; c < cols; ++c)
      row[c] /= (sum == 0.f ? 1.f : sum);
  }
}
