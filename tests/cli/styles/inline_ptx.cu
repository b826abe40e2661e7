__global__ void lanes(unsigned* out, int n) {
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = lane;
}
