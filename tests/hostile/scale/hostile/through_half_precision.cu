// Rounds its values to half precision.
#include <cuda_fp16.h>
__global__ void k(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2.0f * __half2float(__float2half(in[i]));
}
