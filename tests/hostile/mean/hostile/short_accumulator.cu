// Sums in the precision of bfloat16.
__global__ void k(const float* x, float* y, int R, int C) {
  if (threadIdx.x != 0) return;
  float sum = 0.0f;
  for (int c = 0; c < C; ++c)
    sum = __uint_as_float(__float_as_uint(sum + x[blockIdx.x * C + c]) & 0xffff0000u);
  y[blockIdx.x] = sum / C;
}
