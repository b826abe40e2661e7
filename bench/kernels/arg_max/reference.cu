// Where in each row the largest value is found first.
__global__ void arg_max(const float* x, int* index, int rows, int columns) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  int best = 0;
  for (int c = 1; c < columns; ++c) {
    if (x[r * columns + c] > x[r * columns + best]) best = c;
  }
  index[r] = best;
}
