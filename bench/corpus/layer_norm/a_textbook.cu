// Layer normalisation along the rows from the definition, one thread an output: each of them finds
// mean and variance of its whole row.
__global__ void normalise(const float* x, const float* scale, const float* shift, float* y,
                          float epsilon, int rows, int features) {
  int f = blockIdx.x * blockDim.x + threadIdx.x;
  int r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r < rows && f < features) {
    float mean = 0.0f;
    for (int k = 0; k < features; ++k) {
      mean += x[r * features + k] / features;
    }
    float variance = 0.0f;
    for (int k = 0; k < features; ++k) {
      float d = x[r * features + k] - mean;
      variance += d * d / features;
    }
    float unit = (x[r * features + f] - mean) / sqrtf(variance + epsilon);
    y[r * features + f] = scale[f] * unit + shift[f];
  }
}
