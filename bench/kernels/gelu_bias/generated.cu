// fused: broadcast add, pow, mul, tanh, mul
__global__ void gelu_bias(const float* x, const float* bias, float* out, int rows, int columns) {
  int idx = blockIdx.x * blockDim.x + threadIdx.x;
  int numel = rows * columns;
  if (idx >= numel) return;
  int x1 = idx / columns;
  int x0 = idx % columns;
  float tmp0 = x[x0 + columns * x1];
  float tmp1 = bias[x0];
  float tmp2 = tmp0 + tmp1;
  float tmp3 = tmp2 * tmp2;
  float tmp4 = tmp3 * tmp2;
  float tmp5 = tmp4 * 0.044715f;
  float tmp6 = tmp2 + tmp5;
  float tmp7 = tmp6 * 0.79788456f;
  float tmp8 = tanhf(tmp7);
  float tmp9 = tmp8 + 1.0f;
  float tmp10 = tmp2 * 0.5f;
  float tmp11 = tmp10 * tmp9;
  out[x0 + columns * x1] = tmp11;
}
