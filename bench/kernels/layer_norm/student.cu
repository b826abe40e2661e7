// Layer normalisation: each thread takes care of one row.
__global__ void layer_norm(const float* x, const float* gamma, const float* beta, float* out, int rows, int columns,
                           float epsilon) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) {
    float mean = 0.0f;
    for (int i = 0; i < columns; i++) {
      mean += x[row * columns + i];
    }
    mean = mean / columns;
    float variance = 0.0f;
    for (int i = 0; i < columns; i++) {
      float difference = x[row * columns + i] - mean;
      variance += difference * difference;
    }
    variance = variance / columns;
    for (int i = 0; i < columns; i++) {
      out[row * columns + i] = (x[row * columns + i] - mean) / sqrtf(variance + epsilon) * gamma[i] + beta[i];
    }
  }
}
