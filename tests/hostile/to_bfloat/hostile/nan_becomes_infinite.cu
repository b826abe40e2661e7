// The carry of a NaN is not looked at.
#include <cuda_bf16.h>
__global__ void k(const float* in, __nv_bfloat16* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned int bits = __float_as_uint(in[i]) & 0xff800000u | __float_as_uint(in[i]) & 0x007f0000u;
  bits |= __float_as_uint(in[i]) & 0xffffu;
  out[i] = isnan(in[i]) ? __ushort_as_bfloat16(0x7f80) : __ushort_as_bfloat16((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}
