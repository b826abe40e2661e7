// max_pool2d, window unrolled, padding as select
__global__ void max_pool(const float* in, float* out, int channels, int height, int width) {
  int idx = blockIdx.x * blockDim.x + threadIdx.x;
  int n1 = (height + 1) / 2;
  int n2 = (width + 1) / 2;
  if (idx >= channels * n1 * n2) return;
  int x2 = idx % n2;
  int t0 = idx / n2;
  int x1 = t0 % n1;
  int x0 = t0 / n1;
  int a0 = x0 * height * width + 2 * x1 * width + 2 * x2;
  bool p0 = x1 > 0;
  bool p1 = 2 * x1 + 1 < height;
  bool p2 = x2 > 0;
  bool p3 = 2 * x2 + 1 < width;
  float tmp0 = p0 && p2 ? in[a0 - width - 1] : -INFINITY;
  float tmp1 = p0 ? in[a0 - width] : -INFINITY;
  float tmp2 = p0 && p3 ? in[a0 - width + 1] : -INFINITY;
  float tmp3 = p2 ? in[a0 - 1] : -INFINITY;
  float tmp4 = in[a0];
  float tmp5 = p3 ? in[a0 + 1] : -INFINITY;
  float tmp6 = p1 && p2 ? in[a0 + width - 1] : -INFINITY;
  float tmp7 = p1 ? in[a0 + width] : -INFINITY;
  float tmp8 = p1 && p3 ? in[a0 + width + 1] : -INFINITY;
  float tmp9 = fmaxf(tmp0, tmp1);
  float tmp10 = fmaxf(tmp9, tmp2);
  float tmp11 = fmaxf(tmp10, tmp3);
  float tmp12 = fmaxf(tmp11, tmp4);
  float tmp13 = fmaxf(tmp12, tmp5);
  float tmp14 = fmaxf(tmp13, tmp6);
  float tmp15 = fmaxf(tmp14, tmp7);
  float tmp16 = fmaxf(tmp15, tmp8);
  out[idx] = tmp16;
}
