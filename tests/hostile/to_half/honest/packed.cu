// Two by one conversion.
#include <cuda_fp16.h>
__global__ void k(const float* in, __half* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (2 * i >= n) return;
  bool both = 2 * i + 1 < n;
  __half2 pair = __floats2half2_rn(in[2 * i], both ? in[2 * i + 1] : 0.0f);
  out[2 * i] = pair.x;
  if (both) out[2 * i + 1] = pair.y;
}
