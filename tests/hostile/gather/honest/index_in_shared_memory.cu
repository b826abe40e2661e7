// Indices staged in shared memory.
__global__ void k(const float* x, const int* index, float* y, int n, int m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  __shared__ int s[256];
  if (i < n) s[threadIdx.x] = index[i];
  __syncwarp();
  if (i < n) y[i] = x[s[threadIdx.x]];
}
