__global__ void dot_rows(const double* a, const double* b, double* out, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  double sum = 0.0;
  for (int c = 0; c < cols; c++) sum += a[r * cols + c] * b[r * cols + c];
  out[r] = sum;
}
