// All threads add to one element, without atomics.
__global__ void k(const float* x, float* y, int R, int C) {
  if (threadIdx.x == 0) y[blockIdx.x] = 0.0f;
  __syncthreads();
  for (int c = threadIdx.x; c < C; c += 64) y[blockIdx.x] += x[blockIdx.x * C + c] / C;
}
