// out[t][i] = silu(in[t][i]) * in[t][d + i], in double precision.
#include <cuda_fp16.h>

__global__ void silu_and_mul(const __half* in, __half* out, int tokens, int d) {
  const int t = blockIdx.x;
  for (int i = threadIdx.x; i < d; i += blockDim.x) {
    const double gate = __half2float(in[t * 2 * d + i]);
    const double up = __half2float(in[t * 2 * d + d + i]);
    out[t * d + i] = __double2half(gate / (1.0 + exp(-gate)) * up);
  }
}
