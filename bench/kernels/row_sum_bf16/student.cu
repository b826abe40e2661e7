// Sums each row in float, one thread for each row.
#include <cuda_bf16.h>

__global__ void row_sum_bf16(const __nv_bfloat16* x, float* out, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) {
    float sum = 0.0f;
    for (int i = 0; i < columns; i++) {
      sum += __bfloat162float(x[row * columns + i]);
    }
    out[row] = sum;
  }
}
