// Clamped before the conversion, whose order the zero point does not change.
#include <cuda_fp16.h>
__global__ void k(const __half* x, signed char* q, float inverse, int zero, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  q[i] = (signed char)(int)fmaxf(-128.0f, fminf(127.0f, rintf(__half2float(x[i]) * inverse) + float(zero)));
}
