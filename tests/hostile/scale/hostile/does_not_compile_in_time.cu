// A loop nest that takes the compiler minutes to unroll.
__global__ void k(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = i < n ? in[i] : 0.0f;
#pragma unroll
  for (int a = 0; a < 4096; ++a)
#pragma unroll
    for (int b = 0; b < 64; ++b) v = v * 1.0000001f + __sinf(v * a) * b;
  if (i < n) out[i] = v;
}
