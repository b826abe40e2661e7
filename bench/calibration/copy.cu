// One load and one store a thread: DRAM bandwidth for large n, the launch itself for small n.
__global__ void copy(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}
