// One pass of odd-even transposition on every row of a table, a thread a key. threadIdx.x walks
// down the rows and y along a row, so that the loads and stores of a warp are a row apart.
__global__ void odd_even_rows(const float* before, float* after, int rows, int cols, int odd) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  int c = blockIdx.y * blockDim.y + threadIdx.y;
  if (r < rows && c < cols) {
    float kept = before[r * cols + c];
    if (c >= odd && ((c - odd) & 1) == 0) {
      if (c + 1 < cols) kept = fminf(kept, before[r * cols + c + 1]);
    } else if (c > odd) {
      kept = fmaxf(kept, before[r * cols + c - 1]);
    }
    after[r * cols + c] = kept;
  }
}
