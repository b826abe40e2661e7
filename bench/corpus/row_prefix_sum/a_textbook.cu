// Inclusive prefix sums along the rows of a matrix, one thread an output: each adds everything to
// its left from the beginning, which is quadratic work.
__global__ void prefix(const float* in, float* out, int rows, int columns) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  int r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r < rows && c < columns) {
    float sum = 0.0f;
    for (int k = 0; k <= c; ++k) {
      sum += in[r * columns + k];
    }
    out[r * columns + c] = sum;
  }
}
