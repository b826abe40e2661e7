// reduce(mean) -> reduce(var) -> map
__global__ void layer_norm(const float* in0, const float* in1, const float* in2, float* out0, int d0, int d1,
                           float eps) {
  int x0 = blockIdx.x * blockDim.x + threadIdx.x;
  if (x0 >= d0) return;
  int base = x0 * d1;
  float acc0 = 0.0f;
  int r0 = 0;
  for (;;) {
    if (r0 >= d1) break;
    float tmp0 = in0[base + r0];
    acc0 = acc0 + tmp0;
    r0 = r0 + 1;
  }
  float tmp1 = (float)d1;
  float tmp2 = acc0 / tmp1;
  float acc1 = 0.0f;
  int r1 = 0;
  for (;;) {
    if (r1 >= d1) break;
    float tmp3 = in0[base + r1];
    float tmp4 = tmp3 - tmp2;
    float tmp5 = tmp4 * tmp4;
    acc1 = acc1 + tmp5;
    r1 = r1 + 1;
  }
  float tmp6 = acc1 / tmp1;
  float tmp7 = tmp6 + eps;
  float tmp8 = rsqrtf(tmp7);
  int r2 = 0;
  for (;;) {
    if (r2 >= d1) break;
    float tmp9 = in0[base + r2];
    float tmp10 = tmp9 - tmp2;
    float tmp11 = tmp10 * tmp8;
    float tmp12 = in1[r2];
    float tmp13 = tmp11 * tmp12;
    float tmp14 = in2[r2];
    float tmp15 = tmp13 + tmp14;
    out0[base + r2] = tmp15;
    r2 = r2 + 1;
  }
}
