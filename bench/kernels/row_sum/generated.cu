// reduce(sum, axis 1), unrolled by 4
__global__ void row_sum(const float* x, float* sums, int rows, int columns) {
  int x0 = blockIdx.x * blockDim.x + threadIdx.x;
  if (x0 >= rows) return;
  int base = x0 * columns;
  float acc = 0.0f;
  int r = 0;
  for (;;) {
    if (r + 3 >= columns) break;
    float tmp0 = x[base + r];
    float tmp1 = x[base + r + 1];
    float tmp2 = x[base + r + 2];
    float tmp3 = x[base + r + 3];
    acc = acc + tmp0;
    acc = acc + tmp1;
    acc = acc + tmp2;
    acc = acc + tmp3;
    r = r + 4;
  }
  for (;;) {
    if (r >= columns) break;
    float tmp4 = x[base + r];
    acc = acc + tmp4;
    r = r + 1;
  }
  sums[x0] = acc;
}
