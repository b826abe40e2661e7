// reduce(max) -> map(exp) -> reduce(sum) -> map(div)
__global__ void softmax_rows(const float* x, float* out, int rows, int columns) {
  int x0 = blockIdx.x * blockDim.x + threadIdx.x;
  if (x0 >= rows) return;
  int base = x0 * columns;
  float acc0 = -3.402823466e+38f;
  int r0 = 0;
  for (;;) {
    if (r0 >= columns) break;
    float tmp0 = x[base + r0];
    acc0 = fmaxf(acc0, tmp0);
    r0 = r0 + 1;
  }
  float acc1 = 0.0f;
  int r1 = 0;
  for (;;) {
    if (r1 >= columns) break;
    float tmp1 = x[base + r1];
    float tmp2 = tmp1 - acc0;
    float tmp3 = expf(tmp2);
    acc1 = acc1 + tmp3;
    r1 = r1 + 1;
  }
  int r2 = 0;
  for (;;) {
    if (r2 >= columns) break;
    float tmp4 = x[base + r2];
    float tmp5 = tmp4 - acc0;
    float tmp6 = expf(tmp5);
    float tmp7 = tmp6 / acc1;
    out[base + r2] = tmp7;
    r2 = r2 + 1;
  }
}
