// Half of every element, in half precision, as the original does it.
#include <cuda_fp16.h>
__global__ void k(const __half* in, __half* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = __hmul(in[i], __float2half(0.5f));
}
