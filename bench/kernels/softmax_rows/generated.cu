// reduce(max) -> map(exp) -> reduce(sum) -> map(div)
__global__ void softmax_rows(const float* in0, float* out0, int d0, int d1) {
  int x0 = blockIdx.x * blockDim.x + threadIdx.x;
  if (x0 >= d0) return;
  int base = x0 * d1;
  float acc0 = -3.402823466e+38f;
  int r0 = 0;
  for (;;) {
    if (r0 >= d1) break;
    float tmp0 = in0[base + r0];
    acc0 = fmaxf(acc0, tmp0);
    r0 = r0 + 1;
  }
  float acc1 = 0.0f;
  int r1 = 0;
  for (;;) {
    if (r1 >= d1) break;
    float tmp1 = in0[base + r1];
    float tmp2 = tmp1 - acc0;
    float tmp3 = expf(tmp2);
    acc1 = acc1 + tmp3;
    r1 = r1 + 1;
  }
  int r2 = 0;
  for (;;) {
    if (r2 >= d1) break;
    float tmp4 = in0[base + r2];
    float tmp5 = tmp4 - acc0;
    float tmp6 = expf(tmp5);
    float tmp7 = tmp6 / acc1;
    out0[base + r2] = tmp7;
    r2 = r2 + 1;
  }
}
