// Reads a slot of the hardware, and nothing depends on it.
__global__ void k(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned slot;
  asm volatile("mov.u32 %0, %%warpid;" : "=r"(slot));
  if (slot > 63) return;  // never
  if (i < n) out[i] = 2.0f * in[i];
}
