// The slots of a multiprocessor are not the warps of a block.
__global__ void k(const float* x, float* y, int R, int C) {
  __shared__ float t[2];
  unsigned slots;
  asm volatile("mov.u32 %0, %%nwarpid;" : "=r"(slots));
  float s = 0.0f;
  for (int c = threadIdx.x; c < C; c += 32 * slots) s += x[blockIdx.x * C + c];
  for (int o = 16; o > 0; o /= 2) s += __shfl_down_sync(~0u, s, o);
  if (threadIdx.x % 32 == 0) t[threadIdx.x / 32] = s;
  __syncthreads();
  if (threadIdx.x == 0) y[blockIdx.x] = (t[0] + t[1]) / C;
}
