// A load beyond the end that does not change the result, but that no compiler may drop.
__global__ void k(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float next;
    asm volatile("ld.global.f32 %0, [%1];" : "=f"(next) : "l"(in + i + 1));
    out[i] = next == 123456.0f ? 0.0f : 2.0f * in[i];
  }
}
