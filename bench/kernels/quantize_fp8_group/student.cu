// Quantises to fp8 with a scale for each group of 128 columns, one thread for each group.
#include <cuda_bf16.h>
#include <cuda_fp8.h>

#define GROUP 128

__global__ void quantize_fp8_group(const __nv_bfloat16* x, unsigned char* quantized, float* scales, int tokens,
                                   int groups) {
  int index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index >= tokens * groups) return;
  float absmax = 1e-10f;
  for (int i = 0; i < GROUP; i++) {
    float value = __bfloat162float(x[index * GROUP + i]);
    absmax = fmaxf(absmax, fabsf(value));
  }
  scales[index] = absmax / 448.0f;
  float inverse = 448.0f / absmax;
  for (int i = 0; i < GROUP; i++) {
    float value = __bfloat162float(x[index * GROUP + i]) * inverse;
    quantized[index * GROUP + i] = __nv_cvt_float_to_fp8(value, __NV_SATFINITE, __NV_E4M3);
  }
}
