// Matrix-vector product with 4-bit weights, one thread for each row. Eight weights are packed into a word, 128 columns
// share a scale.
#include <cuda_fp16.h>

__global__ void gemv_int4(const unsigned int* packed, const __half* scales, const __half* x, __half* y, int rows,
                          int groups) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int g = 0; g < groups; g++) {
    float scale = __half2float(scales[row * groups + g]);
    for (int w = 0; w < 16; w++) {
      unsigned int word = packed[(row * groups + g) * 16 + w];
      for (int j = 0; j < 8; j++) {
        int q = (int)((word >> (4 * j)) & 0xF) - 8;
        sum += q * scale * __half2float(x[g * 128 + w * 8 + j]);
      }
    }
  }
  y[row] = __float2half(sum);
}
