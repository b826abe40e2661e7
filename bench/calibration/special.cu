// Special functions, dependent within a thread.
__global__ void special(const float* in, float* out, int n, int rounds) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float x = in[i];
    float value = x;
    for (int k = 0; k < rounds; ++k) {
#pragma unroll
      for (int j = 0; j < 4; ++j) value = __expf(-value) + x;
    }
    out[i] = value;
  }
}
