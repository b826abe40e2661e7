// Turns each pair of neighbours by the angle of its token's position, in place, in double precision.
#include <cuda_bf16.h>

__global__ void rotary_pairs_bf16(__nv_bfloat16* x, const int* positions, const float* cosines, const float* sines,
                                  int tokens, int heads, int pairs) {
  const int t = blockIdx.x;
  for (int i = threadIdx.x; i < heads * pairs; i += blockDim.x) {
    const int p = i % pairs;
    __nv_bfloat16* at = x + 2 * (t * heads * pairs + i);
    const double a = __bfloat162float(at[0]);
    const double b = __bfloat162float(at[1]);
    const double c = cosines[positions[t] * pairs + p];
    const double s = sines[positions[t] * pairs + p];
    at[0] = __double2bfloat16(a * c - b * s);
    at[1] = __double2bfloat16(a * s + b * c);
  }
}
