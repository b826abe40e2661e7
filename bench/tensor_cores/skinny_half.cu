// A layer where a language model decodes: few rows, weights an output a line. A thread an element, sums in single precision.
#include <cuda_fp16.h>

__global__ void product(const __half* a, const __half* b, __half* c, int rows, int columns, int depth) {
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= rows || column >= columns) return;
  float sum = 0.0f;
  for (int k = 0; k < depth; ++k) sum += __half2float(a[row * depth + k]) * __half2float(b[column * depth + k]);
  c[row * columns + column] = __float2half(sum);
}
