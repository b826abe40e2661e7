// Softmax along the rows of a matrix straight from the definition, one thread an output: every
// thread finds the maximum and the sum of its whole row again.
__global__ void soft_max(const float* z, float* p, int rows, int columns) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  int i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < rows && j < columns) {
    float top = z[i * columns];
    for (int k = 1; k < columns; ++k) {
      top = fmaxf(top, z[i * columns + k]);
    }
    float mass = 0.0f;
    for (int k = 0; k < columns; ++k) {
      mass += expf(z[i * columns + k] - top);
    }
    p[i * columns + j] = expf(z[i * columns + j] - top) / mass;
  }
}
