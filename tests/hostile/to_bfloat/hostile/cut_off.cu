// The lower half is dropped.
#include <cuda_bf16.h>
__global__ void k(const float* in, __nv_bfloat16* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = __ushort_as_bfloat16(__float_as_uint(in[i]) >> 16);
}
