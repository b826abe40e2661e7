// Two warps, shuffles, and one word of shared memory.
__global__ void k(const float* x, float* y, int R, int C) {
  __shared__ float s[2];
  int t = threadIdx.x;
  float v = 0.0f;
  for (int c = t; c < C; c += 64) v += x[blockIdx.x * C + c];
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
  if (t % 32 == 0) s[t / 32] = v;
  __syncthreads();
  if (t == 0) y[blockIdx.x] = (s[0] + s[1]) / C;
}
