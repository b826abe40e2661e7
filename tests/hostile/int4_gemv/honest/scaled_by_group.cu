// A group is summed first, then scaled.
#include <cuda_fp16.h>
__global__ void k(const unsigned int* w, const __half* scales, const unsigned char* zeros, const __half* x, __half* y,
                  int R, int G) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= R) return;
  float sum = 0.0f;
  for (int g = 0; g < G; ++g) {
    float part = 0.0f;
    for (int j = 0; j < 4; ++j) {
      unsigned int word = w[(row * G + g) * 4 + j];
      for (int i = 0; i < 8; ++i)
        part += float(int(word >> 4 * i & 15) - zeros[row * G + g]) * __half2float(x[32 * g + 8 * j + i]);
    }
    sum += __half2float(scales[row * G + g]) * part;
  }
  y[row] = __float2half(sum);
}
