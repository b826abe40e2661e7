__global__ void add_bias(float* x, const float* bias, int n, int d) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += bias[i % d];
}
