// Unpacks 4-bit weights to half precision, one thread for each weight.
#include <cuda_fp16.h>

__global__ void dequantize_int4(const unsigned int* packed, const __half* scales, __half* out, int rows, int groups) {
  int index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index < rows * groups * 128) {
    unsigned int word = packed[index / 8];
    int q = (int)((word >> (4 * (index % 8))) & 0xF) - 8;
    float scale = __half2float(scales[index / 128]);
    out[index] = __float2half(q * scale);
  }
}
