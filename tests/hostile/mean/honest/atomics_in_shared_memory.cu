// Atomic additions in whatever order they come.
__global__ void k(const float* x, float* y, int R, int C) {
  __shared__ float s;
  if (threadIdx.x == 0) s = 0.0f;
  __syncthreads();
  for (int c = threadIdx.x; c < C; c += blockDim.x) atomicAdd(&s, x[blockIdx.x * C + c]);
  __syncthreads();
  if (threadIdx.x == 0) y[blockIdx.x] = s / C;
}
