// Kahan's compensated sum.
__global__ void k(const float* x, float* y, int R, int C) {
  if (threadIdx.x != 0) return;
  float sum = 0.0f, lost = 0.0f;
  for (int c = 0; c < C; ++c) {
    float v = __fsub_rn(x[blockIdx.x * C + c], lost);
    float next = __fadd_rn(sum, v);
    lost = __fsub_rn(__fsub_rn(next, sum), v);
    sum = next;
  }
  y[blockIdx.x] = sum / C;
}
