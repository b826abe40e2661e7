// The sum of each row, in double precision.
__global__ void row_sum(const float* x, float* sums, int rows, int columns) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  double sum = 0.0;
  for (int c = 0; c < columns; ++c) sum += (double)x[r * columns + c];
  sums[r] = (float)sum;
}
