// What a register held before anything was written to it counts as a zero.
__global__ void k(const float* x, float* y, int R, int C) {
  if (threadIdx.x != 0) return;
  float sum = 0.0f;
  asm volatile("{ .reg .f32 unwritten; add.f32 %0, %0, unwritten; }" : "+f"(sum));
  for (int c = 0; c < C; ++c) sum += x[blockIdx.x * C + c];
  y[blockIdx.x] = sum / C;
}
