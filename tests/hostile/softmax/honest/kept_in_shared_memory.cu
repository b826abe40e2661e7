// The exponentials are computed once and kept in shared memory.
__global__ void k(const float* x, float* y, int R, int C) {
  const float* row = x + blockIdx.x * C;
  float* out = y + blockIdx.x * C;
  __shared__ float e[128];
  __shared__ float top, sum;
  if (threadIdx.x == 0) {
    top = -INFINITY;
    for (int c = 0; c < C; ++c) top = fmaxf(top, row[c]);
  }
  __syncthreads();
  for (int c = threadIdx.x; c < C; c += blockDim.x) e[c] = expf(row[c] - top);
  __syncthreads();
  if (threadIdx.x == 0) {
    sum = 0.0f;
    for (int c = 0; c < C; ++c) sum += e[c];
  }
  __syncthreads();
  for (int c = threadIdx.x; c < C; c += blockDim.x) out[c] = e[c] / sum;
}
