// Position of the maximum of each row.
__global__ void arg_max(const float* x, int* index, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) {
    float best = x[row * columns];
    int position = 0;
    for (int i = 1; i < columns; i++) {
      if (x[row * columns + i] > best) {
        best = x[row * columns + i];
        position = i;
      }
    }
    index[row] = position;
  }
}
