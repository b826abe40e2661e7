// Adds the residual and normalises by the root mean square, one thread for each token, sums in float.
#include <cuda_bf16.h>

__global__ void add_rms_norm_bf16(const __nv_bfloat16* x, __nv_bfloat16* residual, const __nv_bfloat16* weight,
                                  __nv_bfloat16* out, int tokens, int width, float epsilon) {
  int token = blockIdx.x * blockDim.x + threadIdx.x;
  if (token >= tokens) return;
  float sum = 0.0f;
  for (int i = 0; i < width; i++) {
    float value = __bfloat162float(x[token * width + i]) + __bfloat162float(residual[token * width + i]);
    residual[token * width + i] = __float2bfloat16(value);
    value = __bfloat162float(residual[token * width + i]);
    sum += value * value;
  }
  float scale = rsqrtf(sum / width + epsilon);
  for (int i = 0; i < width; i++) {
    float value = __bfloat162float(residual[token * width + i]);
    out[token * width + i] = __float2bfloat16(value * scale * __bfloat162float(weight[i]));
  }
}
