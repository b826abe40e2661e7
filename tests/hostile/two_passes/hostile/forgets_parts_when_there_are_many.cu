// The second launch adds at most 200 parts.
__global__ void k(const float* x, float* part, int n, int p) {
  if (threadIdx.x != 0) return;
  float sum = 0.0f;
  for (int i = blockIdx.x; i < n; i += p) sum += x[i] * x[i];
  part[blockIdx.x] = sum;
}

__global__ void finish(const float* x, const float* part, float* y, int n, int p) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0.0f;
  for (int j = 0; j < min(p, 200); ++j) sum += part[j];
  if (i < n) y[i] = x[i] / sqrtf(1.0f + sum);
}
