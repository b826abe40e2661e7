// Root mean square normalisation, one thread an output with the row as the x index: a thread adds
// up its whole row, and neighbouring threads read a row apart.
__global__ void rms_scale_each(const float* x, const float* weight, float* y, int rows,
                               int columns) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < rows && j < columns) {
    float mean_square = 0.0f;
    for (int k = 0; k < columns; ++k) {
      mean_square += x[i * columns + k] * x[i * columns + k];
    }
    mean_square /= columns;
    y[i * columns + j] = x[i * columns + j] * rsqrtf(mean_square + 1.0e-5f) * weight[j];
  }
}
