// The guard is no comparison of the thread's number.
__global__ void squares_below(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i * i >= n) return;
  x[i * i] += 1.0f;
}
