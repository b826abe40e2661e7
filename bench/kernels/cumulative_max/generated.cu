// scan(max, axis 0, inclusive)
__global__ void cumulative_max(const float* x, float* out, int steps, int series) {
  int x0 = blockIdx.x * blockDim.x + threadIdx.x;
  if (x0 >= series) return;
  float acc = -INFINITY;
  int at = x0;
  int r = 0;
  for (;;) {
    if (r >= steps) break;
    float tmp0 = x[at];
    acc = fmaxf(acc, tmp0);
    out[at] = acc;
    at = at + series;
    r = r + 1;
  }
}
