// Every row less its mean, over its standard deviation, times gamma plus beta, in double precision.
__global__ void layer_norm(const float* x, const float* gamma, const float* beta, float* out, int rows, int columns,
                           float epsilon) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  double mean = 0.0;
  for (int c = 0; c < columns; ++c) mean += (double)x[r * columns + c];
  mean /= columns;
  double variance = 0.0;
  for (int c = 0; c < columns; ++c) variance += (x[r * columns + c] - mean) * (x[r * columns + c] - mean);
  variance /= columns;
  for (int c = 0; c < columns; ++c) {
    out[r * columns + c] = (float)((x[r * columns + c] - mean) / sqrt(variance + epsilon) * gamma[c] + beta[c]);
  }
}
