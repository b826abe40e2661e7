// Adds the residual and normalises by the root mean square, one thread for each token.
__global__ void rms_norm_residual(const float* x, float* residual, const float* weight, float* out, int rows,
                                  int columns, float epsilon) {
  int token = blockIdx.x * blockDim.x + threadIdx.x;
  if (token >= rows) {
    return;
  }
  float sum_of_squares = 0.0f;
  for (int i = 0; i < columns; i++) {
    residual[token * columns + i] += x[token * columns + i];
    sum_of_squares += residual[token * columns + i] * residual[token * columns + i];
  }
  float rms = sqrtf(sum_of_squares / columns + epsilon);
  for (int i = 0; i < columns; i++) {
    out[token * columns + i] = residual[token * columns + i] / rms * weight[i];
  }
}
