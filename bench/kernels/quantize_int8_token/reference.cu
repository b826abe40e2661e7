// A token's elements as integers of eight bits: times 127 over the largest magnitude, to the nearest even. Integers
// have to agree exactly, so the definition is in single precision: one quotient, one product.
#include <cuda_fp16.h>

__global__ void quantize_int8_token(const __half* x, signed char* quantized, float* scales, int tokens, int width) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= tokens) return;
  float largest = 0.0f;
  for (int i = 0; i < width; ++i)
    largest = fmaxf(largest, fabsf(__half2float(x[t * width + i])));
  const float inverse = largest > 0.0f ? 127.0f / largest : 0.0f;
  for (int i = 0; i < width; ++i)
    quantized[t * width + i] = (signed char)__float2int_rn(__half2float(x[t * width + i]) * inverse);
  scales[t] = largest / 127.0f;
}
