// Gated activation of a feed-forward layer: silu of the first half of a row times its second half.
#include <cuda_fp16.h>

__global__ void silu_and_mul(const __half* in, __half* out, int tokens, int d) {
  int index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index < tokens * d) {
    int token = index / d;
    int column = index % d;
    float x = __half2float(in[token * 2 * d + column]);
    float y = __half2float(in[token * 2 * d + d + column]);
    float silu = x / (1.0f + expf(-x));
    out[index] = __float2half(silu * y);
  }
}
