// An atomic addition for every element.
__global__ void k(const float* x, float* y, int R, int C) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= C) return;
  for (int r = blockIdx.y; r < R; r += gridDim.y) atomicAdd(y + c, x[r * C + c]);
}
