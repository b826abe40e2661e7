// Softmax of half precision rows, one thread for each row.
#include <cuda_fp16.h>

__global__ void softmax_half(const __half* x, __half* out, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) {
    float max_value = -INFINITY;
    for (int i = 0; i < columns; i++) {
      max_value = fmaxf(max_value, __half2float(x[row * columns + i]));
    }
    float sum = 0.0f;
    for (int i = 0; i < columns; i++) {
      sum += expf(__half2float(x[row * columns + i]) - max_value);
    }
    for (int i = 0; i < columns; i++) {
      float value = expf(__half2float(x[row * columns + i]) - max_value) / sum;
      out[row * columns + i] = __float2half(value);
    }
  }
}
