// y += A^T x, in double precision.
__global__ void gemv_transposed(const float* A, const float* x, float* y, int rows, int columns) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= columns) return;
  double sum = y[c];
  for (int r = 0; r < rows; ++r) sum += (double)A[r * columns + c] * (double)x[r];
  y[c] = (float)sum;
}
