// For every row of a matrix the column of its first largest element; one thread a row, so that the
// loads of a warp are a row apart.
__global__ void first_largest(const float* scores, int* winner, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) {
    float best = scores[row * columns];
    int at = 0;
    for (int c = 1; c < columns; ++c) {
      float candidate = scores[row * columns + c];
      if (candidate > best) {
        best = candidate;
        at = c;
      }
    }
    winner[row] = at;
  }
}
