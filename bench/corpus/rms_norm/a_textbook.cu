// Every row of a matrix divided by the root of its mean square and weighted, one thread a row; it
// walks along the row twice.
__global__ void rms_scale(const float* x, const float* weight, float* y, int rows, int columns) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < rows) {
    float squares = 0.0f;
    for (int c = 0; c < columns; ++c) {
      squares += x[r * columns + c] * x[r * columns + c];
    }
    float factor = 1.0f / sqrtf(squares / columns + 1.0e-5f);
    for (int c = 0; c < columns; ++c) {
      y[r * columns + c] = x[r * columns + c] * factor * weight[c];
    }
  }
}
