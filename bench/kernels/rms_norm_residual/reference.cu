// residual += x; out = residual over its root mean square, times weight; in double precision.
__global__ void rms_norm_residual(const float* x, float* residual, const float* weight, float* out, int rows,
                                  int columns, float epsilon) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  double squares = 0.0;
  for (int c = 0; c < columns; ++c) {
    double v = (double)x[r * columns + c] + (double)residual[r * columns + c];
    squares += v * v;
  }
  for (int c = 0; c < columns; ++c) {
    double v = (double)x[r * columns + c] + (double)residual[r * columns + c];
    residual[r * columns + c] = (float)v;
    out[r * columns + c] = (float)(v / sqrt(squares / columns + epsilon) * weight[c]);
  }
}
