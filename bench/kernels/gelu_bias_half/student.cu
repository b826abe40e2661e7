// Adds a bias to each row and applies gelu, one thread for each element.
#include <cuda_fp16.h>

__global__ void gelu_bias_half(const __half* x, const __half* bias, __half* out, int rows, int columns) {
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < rows && column < columns) {
    float v = __half2float(x[row * columns + column]) + __half2float(bias[column]);
    float t = tanhf(0.7978845608f * (v + 0.044715f * v * v * v));
    out[row * columns + column] = __float2half(0.5f * v * (1.0f + t));
  }
}
