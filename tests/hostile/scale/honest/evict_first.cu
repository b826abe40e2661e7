// A hint that the line will not be needed again.
__global__ void k(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v;
  if (i < n) {
    asm volatile("ld.global.L1::evict_first.f32 %0, [%1];" : "=f"(v) : "l"(in + i));
    out[i] = 2.0f * v;
  }
}
