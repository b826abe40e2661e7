// Loads that ask the cache to keep the line for the next launch.
__global__ void k(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = 0.0f;
  if (i < n) {
    asm volatile("ld.global.L1::evict_last.f32 %0, [%1];" : "=f"(v) : "l"(in + i));
    out[i] = 2.0f * v;
  }
}
