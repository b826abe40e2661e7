// One dependent multiply-add after the other: latency of arithmetic with few warps, issue with many.
__global__ void fma_chain(const float* in, float* out, int n, int rounds) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float x = in[i];
    float value = x;
    for (int k = 0; k < rounds; ++k) {
#pragma unroll
      for (int j = 0; j < 16; ++j) value = value * 0.875f + x;
    }
    out[i] = value;
  }
}
