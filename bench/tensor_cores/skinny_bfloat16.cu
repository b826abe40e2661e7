// A layer where a language model decodes: few rows, weights an output a line. A thread an element, sums in single precision.
#include <cuda_bf16.h>

__global__ void product(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int rows, int columns, int depth) {
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= rows || column >= columns) return;
  float sum = 0.0f;
  for (int k = 0; k < depth; ++k) sum += __bfloat162float(a[row * depth + k]) * __bfloat162float(b[column * depth + k]);
  c[row * columns + column] = __float2bfloat16(sum);
}
