// The column of the first largest element of every row in two walks: one for the value, one for
// its smallest column. One thread a row, the row is read twice with accesses a row apart.
__global__ void first_largest_twice(const float* scores, int* winner, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float top = -3.0e38f;
  for (int c = 0; c < columns; ++c) {
    top = fmaxf(top, scores[row * columns + c]);
  }
  int place = columns;
  for (int c = 0; c < columns; ++c) {
    if (scores[row * columns + c] == top) {
      place = min(place, c);
    }
  }
  winner[row] = place;
}
