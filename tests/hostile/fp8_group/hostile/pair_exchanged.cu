// The two bytes of a pair are exchanged.
#include <cuda_bf16.h>
#include <cuda_fp8.h>
__global__ void k(const __nv_bfloat16* x, const float* inverse, unsigned char* q, int T, int G) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= T * G * 32) return;
  q[i ^ 1] = __nv_cvt_float_to_fp8(__bfloat162float(x[i]) * inverse[i / 32], __NV_SATFINITE, __NV_E4M3);
}
