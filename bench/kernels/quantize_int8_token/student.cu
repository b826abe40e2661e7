// Quantises activations to int8 with one scale a token, one thread for each token.
#include <cuda_fp16.h>

__global__ void quantize_int8_token(const __half* x, signed char* quantized, float* scales, int tokens, int width) {
  int token = blockIdx.x * blockDim.x + threadIdx.x;
  if (token >= tokens) return;
  float absmax = 0.0f;
  for (int i = 0; i < width; i++) {
    float value = fabsf(__half2float(x[token * width + i]));
    if (value > absmax) absmax = value;
  }
  scales[token] = absmax / 127.0f;
  float inverse = 0.0f;
  if (absmax > 0.0f) inverse = 127.0f / absmax;
  for (int i = 0; i < width; i++) {
    float value = __half2float(x[token * width + i]) * inverse;
    quantized[token * width + i] = (signed char)rintf(value);
  }
}
