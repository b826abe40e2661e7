// Floats as bfloat16.
#include <cuda_bf16.h>
__global__ void k(const float* in, __nv_bfloat16* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = __float2bfloat16(in[i]);
}
