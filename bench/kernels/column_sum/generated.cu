// reduce(sum, axis 0)
__global__ void column_sum(const float* x, float* sums, int rows, int columns) {
  int x0 = blockIdx.x * blockDim.x + threadIdx.x;
  if (x0 >= columns) return;
  float acc = 0.0f;
  int at = x0;
  int r = 0;
  for (;;) {
    if (r >= rows) break;
    float tmp0 = x[at];
    acc = acc + tmp0;
    at = at + columns;
    r = r + 1;
  }
  sums[x0] = acc;
}
