// Denormal numbers become zero.
__global__ void k(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float r;
  asm("mul.ftz.f32 %0, %1, 0f40000000;" : "=f"(r) : "f"(in[i]));
  out[i] = r;
}
