// out = sum along the row, in double precision.
#include <cuda_bf16.h>

__global__ void row_sum_bf16(const __nv_bfloat16* x, float* out, int rows, int columns) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  double sum = 0.0;
  for (int c = 0; c < columns; ++c)
    sum += __bfloat162float(x[r * columns + c]);
  out[r] = (float)sum;
}
