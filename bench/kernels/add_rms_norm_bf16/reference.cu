// residual += x, rounded to bfloat16; out = residual over its root mean square, times weight; in double precision.
#include <cuda_bf16.h>

__global__ void add_rms_norm_bf16(const __nv_bfloat16* x, __nv_bfloat16* residual, const __nv_bfloat16* weight,
                                  __nv_bfloat16* out, int tokens, int width, float epsilon) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= tokens) return;
  double squares = 0.0;
  for (int i = 0; i < width; ++i) {
    const double sum = (double)__bfloat162float(x[t * width + i]) + (double)__bfloat162float(residual[t * width + i]);
    residual[t * width + i] = __double2bfloat16(sum);
    const double v = __bfloat162float(residual[t * width + i]);
    squares += v * v;
  }
  for (int i = 0; i < width; ++i) {
    const double v = __bfloat162float(residual[t * width + i]);
    out[t * width + i] = __double2bfloat16(v / sqrt(squares / width + epsilon) * (double)__bfloat162float(weight[i]));
  }
}
