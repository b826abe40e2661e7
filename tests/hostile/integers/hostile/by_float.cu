// Right up to 2^24.
__global__ void k(const int* x, int* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = (int)truncf(x[i] * 0.25f) + abs(x[i]);
}
