// Zero is added, and -0 is 0.
#include <cuda_fp16.h>
__global__ void k(const float* in, __half* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = __float2half(in[i] + 0.0f);
}
