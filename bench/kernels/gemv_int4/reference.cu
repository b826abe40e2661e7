// y = W x with weights of four bits: eight in a word, the first lowest, less 8, times the scale of their group of 128;
// in double precision.
#include <cuda_fp16.h>

__global__ void gemv_int4(const unsigned int* packed, const __half* scales, const __half* x, __half* y, int rows,
                          int groups) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  double sum = 0.0;
  for (int c = 0; c < 128 * groups; ++c) {
    const int bits = packed[(r * 128 * groups + c) / 8] >> (c % 8 * 4) & 15;
    sum += (bits - 8) * (double)__half2float(scales[r * groups + c / 128]) * (double)__half2float(x[c]);
  }
  y[r] = __double2half(sum);
}
