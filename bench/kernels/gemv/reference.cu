// y = A x, in double precision.
__global__ void gemv(const float* A, const float* x, float* y, int rows, int columns) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  double sum = 0.0;
  for (int c = 0; c < columns; ++c) sum += (double)A[r * columns + c] * (double)x[c];
  y[r] = (float)sum;
}
