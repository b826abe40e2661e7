#include <cub/cub.cuh>

// The largest of each row.
__global__ void largest(const float* m, float* out, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float best = -FLT_MAX;
  for (int i = 0; i < cols; ++i) best = fmaxf(best, m[row * cols + i]);
  out[row] = best;
}
