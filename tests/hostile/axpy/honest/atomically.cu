// Adds atomically, which nobody asked for.
__global__ void k(const float* x, float* y, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(y + i, a * x[i]);
}
