// The rows of a matrix are put into another order. A thread moves a whole row and found its place
// once; the loop over the row is unrolled by hand by four, still with accesses a row apart.
__global__ void scatter_whole_rows(const float* __restrict__ from, const int* __restrict__ slots,
                                   float* __restrict__ to, int rows, int columns) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < rows) {
    int place = (slots[r] * 17 + 5) % rows;
    int quads = columns / 4;
    for (int q = 0; q < quads; ++q) {
      to[place * columns + 4 * q] = from[r * columns + 4 * q];
      to[place * columns + 4 * q + 1] = from[r * columns + 4 * q + 1];
      to[place * columns + 4 * q + 2] = from[r * columns + 4 * q + 2];
      to[place * columns + 4 * q + 3] = from[r * columns + 4 * q + 3];
    }
    for (int c = quads * 4; c < columns; ++c) {
      to[place * columns + c] = from[r * columns + c];
    }
  }
}
