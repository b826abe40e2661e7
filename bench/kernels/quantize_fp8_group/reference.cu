// Groups of 128 elements as fp8 (e4m3): times 448 over the largest magnitude, saturating. Bytes have to agree exactly,
// so the definition is in single precision: one quotient, one product.
#include <cuda_bf16.h>
#include <cuda_fp8.h>

__global__ void quantize_fp8_group(const __nv_bfloat16* x, unsigned char* quantized, float* scales, int tokens,
                                   int groups) {
  const int g = blockIdx.x * blockDim.x + threadIdx.x;
  if (g >= tokens * groups) return;
  float largest = 1.0e-10f;
  for (int i = 0; i < 128; ++i)
    largest = fmaxf(largest, fabsf(__bfloat162float(x[g * 128 + i])));
  const float inverse = 448.0f / largest;
  for (int i = 0; i < 128; ++i) {
    quantized[g * 128 + i] =
        __nv_cvt_float_to_fp8(__bfloat162float(x[g * 128 + i]) * inverse, __NV_SATFINITE, __NV_E4M3);
  }
  scales[g] = largest / 448.0f;
}
