// Lanes that left a loop at different times need not be together after it.
__global__ void k(const float* x, float* y, int R, int C) {
  __shared__ float t[64];

  float s = 0.0f;
  for (int c = threadIdx.x; c < C; c += 64) s += x[blockIdx.x * C + c];
  unsigned m = __activemask();
  for (int o = 16; o > 0; o /= 2) s += __shfl_down_sync(m, s, o);
  if (threadIdx.x % 32 == 0) t[threadIdx.x / 32] = m == ~0u ? s : -1.0f;
  __syncthreads();
  if (threadIdx.x == 0) y[blockIdx.x] = (t[0] + t[1]) / C;
}
