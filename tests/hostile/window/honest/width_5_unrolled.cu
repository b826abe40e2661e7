// The width that is given has its own way, others the usual one.
__global__ void k(const float* x, float* y, int n, int w) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + w > n) return;
  float s = 0.0f;
  if (w == 5) {
    s = x[i] + x[i + 1] + x[i + 2] + x[i + 3] + x[i + 4];
  } else {
    for (int j = 0; j < w; ++j) s += x[i + j];
  }
  y[i] = s;
}
