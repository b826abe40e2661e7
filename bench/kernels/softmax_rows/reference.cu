// exp(x - max) over its sum along each row, in double precision.
__global__ void softmax_rows(const float* x, float* out, int rows, int columns) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  double peak = x[r * columns];
  for (int c = 1; c < columns; ++c) peak = fmax(peak, (double)x[r * columns + c]);
  double sum = 0.0;
  for (int c = 0; c < columns; ++c) sum += exp(x[r * columns + c] - peak);
  for (int c = 0; c < columns; ++c) out[r * columns + c] = (float)(exp(x[r * columns + c] - peak) / sum);
}
