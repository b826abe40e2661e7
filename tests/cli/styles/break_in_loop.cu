__global__ void first_above(const float* m, int* where, float limit, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < rows) {
    int found = -1;
    for (int c = 0; c < cols; c++) {
      if (m[r * cols + c] > limit) {
        found = c;
        break;
      }
    }
    where[r] = found;
  }
}
