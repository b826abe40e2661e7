// Softmax of every row of a matrix, one thread a row: neighbouring threads read addresses that are a
// whole row apart, and each of them walks its row three times.
__global__ void softmax(const float* in, float* out, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) {
    float largest = -3.402823466e+38f;
    for (int c = 0; c < columns; ++c) {
      largest = fmaxf(largest, in[row * columns + c]);
    }
    float sum = 0.0f;
    for (int c = 0; c < columns; ++c) {
      sum += expf(in[row * columns + c] - largest);
    }
    for (int c = 0; c < columns; ++c) {
      out[row * columns + c] = expf(in[row * columns + c] - largest) / sum;
    }
  }
}
