// Off by a factor that is a little more than rounding.
__global__ void k(const float* x, float* y, int R, int C) {
  if (threadIdx.x != 0) return;
  float sum = 0.0f;
  for (int c = 0; c < C; ++c) sum += x[blockIdx.x * C + c];
  y[blockIdx.x] = sum / C * 1.00001f;
}
