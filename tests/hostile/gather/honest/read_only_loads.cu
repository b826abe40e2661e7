// Index and value through the read-only path.
__global__ void k(const float* x, const int* index, float* y, int n, int m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __ldg(x + __ldg(index + i));
}
