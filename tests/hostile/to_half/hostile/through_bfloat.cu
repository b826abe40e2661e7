// Rounded to bfloat16 first.
#include <cuda_fp16.h>
__global__ void k(const float* in, __half* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned int bits = __float_as_uint(in[i]);
  if ((bits & 0x7f800000u) != 0x7f800000u) bits = (bits + 0x7fffu + (bits >> 16 & 1u)) & 0xffff0000u;
  out[i] = __float2half(__uint_as_float(bits));
}
