// The upper of two nibbles first.
#include <cuda_fp16.h>
__global__ void k(const unsigned int* w, const __half* scales, const unsigned char* zeros, const __half* x, __half* y,
                  int R, int G) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= R) return;
  float sum = 0.0f;
  for (int c = 0; c < 32 * G; ++c) {
    int group = c / 32;
    int q = w[(row * 32 * G + c) / 8] >> 4 * (c % 8 ^ 1) & 15;
    int zero = zeros[row * G + group];
    float scale = __half2float(scales[row * G + group]);
    sum += (q - zero) * scale * __half2float(x[c]);
  }
  y[row] = __float2half(sum);
}
