// Eight chains of multiply-adds side by side: FP32 throughput.
__global__ void fma_parallel(const float* in, float* out, int n, int rounds) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float x = in[i];
    float value[8];
#pragma unroll
    for (int j = 0; j < 8; ++j) value[j] = x + j;
    for (int k = 0; k < rounds; ++k) {
#pragma unroll
      for (int j = 0; j < 32; ++j) value[j % 8] = value[j % 8] * 0.875f + x;
    }
    float sum = 0.0f;
#pragma unroll
    for (int j = 0; j < 8; ++j) sum += value[j];
    out[i] = sum;
  }
}
