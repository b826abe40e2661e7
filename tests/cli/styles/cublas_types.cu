#include <cublas_v2.h>

__global__ void scale(const __nv_bfloat16* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2.0f * __bfloat162float(x[i]) + 1.0f;
}

void finish(cublasHandle_t handle) { cublasDestroy(handle); }
