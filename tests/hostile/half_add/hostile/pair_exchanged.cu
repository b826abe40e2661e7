// Each takes the place of the other.
#include <cuda_fp16.h>
__global__ void k(const __half* a, const __half* b, __half* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (2 * i + 1 < n) {
    __half2 sum = __hadd2(__halves2half2(a[2 * i], a[2 * i + 1]), __halves2half2(b[2 * i], b[2 * i + 1]));
    c[2 * i] = sum.y;
    c[2 * i + 1] = sum.x;
  } else if (2 * i < n) {
    c[2 * i] = __hadd(a[2 * i], b[2 * i]);
  }
}
