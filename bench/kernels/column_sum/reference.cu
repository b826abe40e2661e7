// The sum of each column, in double precision.
__global__ void column_sum(const float* x, float* sums, int rows, int columns) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= columns) return;
  double sum = 0.0;
  for (int r = 0; r < rows; ++r) sum += (double)x[r * columns + c];
  sums[c] = (float)sum;
}
