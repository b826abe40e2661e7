// Numerically stable softmax over the rows of a matrix; a thread computes a row.
__global__ void softmax_rows(const float* x, float* out, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) {
    float maximum = -INFINITY;
    for (int i = 0; i < columns; i++) {
      if (x[row * columns + i] > maximum) {
        maximum = x[row * columns + i];
      }
    }
    float sum = 0.0f;
    for (int i = 0; i < columns; i++) {
      out[row * columns + i] = expf(x[row * columns + i] - maximum);
      sum += out[row * columns + i];
    }
    for (int i = 0; i < columns; i++) {
      out[row * columns + i] /= sum;
    }
  }
}
