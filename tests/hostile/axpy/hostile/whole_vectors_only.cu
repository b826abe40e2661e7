// Forgets what is left over after whole vectors.
__global__ void k(const float* x, float* y, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (4 * i + 3 >= n && n > 3) return;
  for (int j = 4 * i; j < min(n, 4 * i + 4); ++j) y[j] += a * x[j];
}
