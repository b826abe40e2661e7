__global__ void count_above(const float* x, int* above, float limit, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) above[i] = x[i] > limit;
}
