// The rows of a matrix are put into another order: row r goes to a place computed from a list of
// slots. One thread an element, x along the row.
__global__ void scatter_rows(const float* from, const int* slots, float* to, int rows,
                             int columns) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  int r = blockIdx.y * blockDim.y + threadIdx.y;
  if (c < columns && r < rows) {
    int place = (slots[r] * 17 + 5) % rows;
    to[place * columns + c] = from[r * columns + c];
  }
}
