// Rotary position embedding on adjacent pairs, one thread for each pair.
#include <cuda_bf16.h>

__global__ void rotary_pairs_bf16(__nv_bfloat16* x, const int* positions, const float* cosines, const float* sines,
                                  int tokens, int heads, int pairs) {
  int pair = blockIdx.x * blockDim.x + threadIdx.x;
  int head = blockIdx.y;
  int token = blockIdx.z;
  if (pair < pairs) {
    int index = ((token * heads + head) * pairs + pair) * 2;
    int position = positions[token];
    float c = cosines[position * pairs + pair];
    float s = sines[position * pairs + pair];
    float x0 = __bfloat162float(x[index]);
    float x1 = __bfloat162float(x[index + 1]);
    x[index] = __float2bfloat16(x0 * c - x1 * s);
    x[index + 1] = __float2bfloat16(x0 * s + x1 * c);
  }
}
