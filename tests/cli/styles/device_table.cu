__device__ float weights[4] = {0.5f, 0.25f, 0.125f, 0.125f};
__device__ float weight(int i) { return weights[i & 3]; }
__global__ void weigh(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * weight(i) + __ldg(&weights[0]);
}
