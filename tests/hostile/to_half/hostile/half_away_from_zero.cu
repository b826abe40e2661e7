// One half goes away from zero.
#include <cuda_fp16.h>
__global__ void k(const float* in, __half* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float value = in[i];
  unsigned int bits = __float_as_uint(value);
  bool tie = (bits & 0x1fffu) == 0x1000u && fabsf(value) >= 6.2e-5f;
  out[i] = __float2half(tie ? __uint_as_float(bits + 1u) : value);
}
