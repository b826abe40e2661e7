// reduce(mean) -> reduce(var) -> map
__global__ void layer_norm(const float* x, const float* gamma, const float* beta, float* out, int rows, int columns,
                           float epsilon) {
  int x0 = blockIdx.x * blockDim.x + threadIdx.x;
  if (x0 >= rows) return;
  int base = x0 * columns;
  float acc0 = 0.0f;
  int r0 = 0;
  for (;;) {
    if (r0 >= columns) break;
    float tmp0 = x[base + r0];
    acc0 = acc0 + tmp0;
    r0 = r0 + 1;
  }
  float tmp1 = (float)columns;
  float tmp2 = acc0 / tmp1;
  float acc1 = 0.0f;
  int r1 = 0;
  for (;;) {
    if (r1 >= columns) break;
    float tmp3 = x[base + r1];
    float tmp4 = tmp3 - tmp2;
    float tmp5 = tmp4 * tmp4;
    acc1 = acc1 + tmp5;
    r1 = r1 + 1;
  }
  float tmp6 = acc1 / tmp1;
  float tmp7 = tmp6 + epsilon;
  float tmp8 = rsqrtf(tmp7);
  int r2 = 0;
  for (;;) {
    if (r2 >= columns) break;
    float tmp9 = x[base + r2];
    float tmp10 = tmp9 - tmp2;
    float tmp11 = tmp10 * tmp8;
    float tmp12 = gamma[r2];
    float tmp13 = tmp11 * tmp12;
    float tmp14 = beta[r2];
    float tmp15 = tmp13 + tmp14;
    out[base + r2] = tmp15;
    r2 = r2 + 1;
  }
}
