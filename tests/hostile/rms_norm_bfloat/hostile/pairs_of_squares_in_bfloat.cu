// Two squares are added as bfloat16, the pairs as floats.
#include <cuda_bf16.h>
__global__ void k(const __nv_bfloat16* x, const __nv_bfloat16* w, __nv_bfloat16* y, int R, int C, float eps) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= R) return;
  const __nv_bfloat16* from = x + row * C;
  float squares = 0.0f;
  for (int i = 0; i < C; i += 2) {
    __nv_bfloat16 pair = __hmul(from[i], from[i]);
    if (i + 1 < C) pair = __hfma(from[i + 1], from[i + 1], pair);
    squares += __bfloat162float(pair);
  }
  float scale = 1.0f / sqrtf(squares / C + eps);
  for (int i = 0; i < C; ++i) y[row * C + i] = __float2bfloat16(__bfloat162float(from[i]) * scale * __bfloat162float(w[i]));
}
