// Sums that are denormal become 0.
#include <cuda_fp16.h>
__global__ void k(const __half* a, const __half* b, __half* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned short sum = __half_as_ushort(__hadd(a[i], b[i]));
  c[i] = __ushort_as_half((sum & 0x7c00) == 0 ? sum & 0x8000 : sum);
}
