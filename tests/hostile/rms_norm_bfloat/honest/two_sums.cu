// Even and odd elements apart, pairs rounded at once.
#include <cuda_bf16.h>
__global__ void k(const __nv_bfloat16* x, const __nv_bfloat16* w, __nv_bfloat16* y, int R, int C, float eps) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= R) return;
  const __nv_bfloat16* from = x + row * C;
  float even = 0.0f, odd = 0.0f;
  for (int i = 0; i < C; i += 2) {
    float u = __bfloat162float(from[i]), v = i + 1 < C ? __bfloat162float(from[i + 1]) : 0.0f;
    even += u * u;
    odd += v * v;
  }
  float squares = even + odd;
  float scale = 1.0f / sqrtf(squares / C + eps);
  for (int i = 0; i < C; i += 2) {
    bool both = i + 1 < C;
    float u = __bfloat162float(from[i]) * scale * __bfloat162float(w[i]);
    float v = both ? __bfloat162float(from[i + 1]) * scale * __bfloat162float(w[i + 1]) : 0.0f;
    __nv_bfloat162 pair = __floats2bfloat162_rn(u, v);
    y[row * C + i] = pair.x;
    if (both) y[row * C + i + 1] = pair.y;
  }
}
