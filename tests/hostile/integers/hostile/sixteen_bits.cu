// Right for what fits 16 bits.
__global__ void k(const int* x, int* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  short v = x[i];
  y[i] = v / 4 + abs(v);
}
