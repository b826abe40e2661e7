#include <cuda_fp16.h>

__global__ void clamp_up(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = fmaxf(x[i], 0.0f);
}

__global__ void clamp_up(__half* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = __hmax(x[i], __float2half(0.0f));
}

int main() {
  float* x;
  cudaMalloc(&x, 4096 * sizeof(float));
  clamp_up<<<16, 256>>>(x, 4096);
}
