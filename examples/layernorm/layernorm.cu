// Layer normalisation of every row of a matrix, one thread a row: mean, variance, then the scaled
// and shifted deviation.
__global__ void layernorm(const float* in, const float* gain, const float* bias, float* out,
                          float epsilon, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) {
    float sum = 0.0f;
    for (int c = 0; c < columns; ++c) {
      sum += in[row * columns + c];
    }
    float mean = sum / columns;
    float squares = 0.0f;
    for (int c = 0; c < columns; ++c) {
      float deviation = in[row * columns + c] - mean;
      squares += deviation * deviation;
    }
    float scale = rsqrtf(squares / columns + epsilon);
    for (int c = 0; c < columns; ++c) {
      out[row * columns + c] = (in[row * columns + c] - mean) * scale * gain[c] + bias[c];
    }
  }
}
