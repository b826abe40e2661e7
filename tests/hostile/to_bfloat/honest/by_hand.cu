// Rounded to even with integers.
#include <cuda_bf16.h>
__global__ void k(const float* in, __nv_bfloat16* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned int bits = __float_as_uint(in[i]);
  unsigned int rounded = isnan(in[i]) ? 0x7fffu : (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
  out[i] = __ushort_as_bfloat16((unsigned short)rounded);
}
