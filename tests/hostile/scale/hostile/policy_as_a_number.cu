// The same policy as a number, which needs no instruction that makes it.
__global__ void k(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = 0.0f;
  if (i < n) {
    asm volatile("ld.global.L2::cache_hint.f32 %0, [%1], %2;"
                 : "=f"(v) : "l"(in + i), "l"(0x14F0000000000000ull));
    out[i] = 2.0f * v;
  }
}
