// Layer normalisation of half precision rows, one thread for each row, sums in float.
#include <cuda_fp16.h>

__global__ void layer_norm_half(const __half* x, const float* weight, const float* bias, __half* out, int rows,
                                int columns, float epsilon) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) {
    return;
  }
  float mean = 0.0f;
  for (int i = 0; i < columns; i++) {
    mean += __half2float(x[row * columns + i]);
  }
  mean /= columns;
  float variance = 0.0f;
  for (int i = 0; i < columns; i++) {
    float difference = __half2float(x[row * columns + i]) - mean;
    variance += difference * difference;
  }
  variance /= columns;
  float inverse = 1.0f / sqrtf(variance + epsilon);
  for (int i = 0; i < columns; i++) {
    float normalised = (__half2float(x[row * columns + i]) - mean) * inverse;
    out[row * columns + i] = __float2half(normalised * weight[i] + bias[i]);
  }
}
