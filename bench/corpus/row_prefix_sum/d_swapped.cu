// Inclusive prefix sums along the rows of a matrix of integers, one thread an output that adds all
// to its left. The thread's row is its x index: each iteration of a warp reads 32 rows.
__global__ void prefix_each(const int* counts, int* running, int rows, int columns) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  const int last = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= rows || last >= columns) {
    return;
  }
  int sum = counts[row * columns + last];
  for (int k = 0; k < last; k++) {
    sum += counts[row * columns + k];
  }
  running[row * columns + last] = sum;
}
