// Clamped to a range that is symmetrical.
#include <cuda_fp16.h>
__global__ void k(const __half* x, signed char* q, float inverse, int zero, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  q[i] = (signed char)max(-127, min(127, __float2int_rn(__half2float(x[i]) * inverse) + zero));
}
