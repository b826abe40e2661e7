// The cache for memory that nobody writes is asked for what was written a moment ago.
__global__ void k(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
  __syncthreads();
  if (i < n) {
    float v;
    asm volatile("ld.global.nc.f32 %0, [%1];" : "=f"(v) : "l"(out + i));
    out[i] = 2.0f * v;
  }
}
