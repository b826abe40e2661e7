// out = (bits - 8) * scale of the group of 128; eight weights in a word, the first lowest; in double precision.
#include <cuda_fp16.h>

__global__ void dequantize_int4(const unsigned int* packed, const __half* scales, __half* out, int rows, int groups) {
  const int r = blockIdx.x;
  for (int c = threadIdx.x; c < 128 * groups; c += blockDim.x) {
    const int at = r * 128 * groups + c;
    const int bits = packed[at / 8] >> (c % 8 * 4) & 15;
    out[at] = __double2half((bits - 8) * (double)__half2float(scales[r * groups + c / 128]));
  }
}
