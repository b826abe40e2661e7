// As a course would have it, but for the type: a thread an element, sums in single precision.
#include <cuda_fp16.h>

__global__ void product(const __half* a, const __half* b, __half* c, int n) {
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= n || column >= n) return;
  float sum = 0.0f;
  for (int k = 0; k < n; ++k) sum += __half2float(a[row * n + k]) * __half2float(b[k * n + column]);
  c[row * n + column] = __float2half(sum);
}
