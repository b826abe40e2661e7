extern __shared__ float s[];

__global__ void reverse(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = i < n ? x[i] : 0.0f;
  __syncthreads();
  if (i < n) y[i] = s[blockDim.x - 1 - threadIdx.x];
}

void launch(const float* x, float* y, int n) {
  reverse<<<(n + 255) / 256, 256, 256 * sizeof(float)>>>(x, y, n);
}
