// As a course would have it, but for the type: a thread an element, sums in single precision.
#include <cuda_bf16.h>

__global__ void product(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int n) {
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= n || column >= n) return;
  float sum = 0.0f;
  for (int k = 0; k < n; ++k) sum += __bfloat162float(a[row * n + k]) * __bfloat162float(b[k * n + column]);
  c[row * n + column] = __float2bfloat16(sum);
}
