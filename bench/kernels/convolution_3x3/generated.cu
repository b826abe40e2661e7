// conv2d nchw, window unrolled, padding as select
__global__ void convolution_3x3(const float* in, const float* weights, float* out, int inputs, int outputs, int height, int width) {
  int idx = blockIdx.x * blockDim.x + threadIdx.x;
  if (idx >= outputs * height * width) return;
  int x2 = idx % width;
  int t0 = idx / width;
  int x1 = t0 % height;
  int x0 = t0 / height;
  bool p0 = x1 - 1 >= 0;
  bool p1 = x1 + 1 < height;
  bool p2 = x2 - 1 >= 0;
  bool p3 = x2 + 1 < width;
  float acc = 0.0f;
  int r0 = 0;
  for (;;) {
    if (r0 >= inputs) break;
    int a0 = (r0 * height + x1) * width + x2;
    int a1 = (x0 * inputs + r0) * 9;
    float tmp0 = p0 && p2 ? in[a0 - width - 1] : 0.0f;
    float tmp1 = p0 ? in[a0 - width] : 0.0f;
    float tmp2 = p0 && p3 ? in[a0 - width + 1] : 0.0f;
    float tmp3 = p2 ? in[a0 - 1] : 0.0f;
    float tmp4 = in[a0];
    float tmp5 = p3 ? in[a0 + 1] : 0.0f;
    float tmp6 = p1 && p2 ? in[a0 + width - 1] : 0.0f;
    float tmp7 = p1 ? in[a0 + width] : 0.0f;
    float tmp8 = p1 && p3 ? in[a0 + width + 1] : 0.0f;
    acc = acc + tmp0 * weights[a1];
    acc = acc + tmp1 * weights[a1 + 1];
    acc = acc + tmp2 * weights[a1 + 2];
    acc = acc + tmp3 * weights[a1 + 3];
    acc = acc + tmp4 * weights[a1 + 4];
    acc = acc + tmp5 * weights[a1 + 5];
    acc = acc + tmp6 * weights[a1 + 6];
    acc = acc + tmp7 * weights[a1 + 7];
    acc = acc + tmp8 * weights[a1 + 8];
    r0 = r0 + 1;
  }
  out[idx] = acc;
}
