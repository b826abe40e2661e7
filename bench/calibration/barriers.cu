// Threads hand a value round their block, with a barrier after each step.
__global__ void barriers(const float* in, float* out, int n, int rounds) {
  __shared__ float ring[2][256];
  int i = blockIdx.x * 256 + threadIdx.x;
  ring[0][threadIdx.x] = i < n ? in[i] : 0.0f;
  __syncthreads();
  for (int k = 0; k < rounds; ++k) {
    ring[(k + 1) & 1][threadIdx.x] = ring[k & 1][(threadIdx.x + 1) & 255] + 1.0f;
    __syncthreads();
  }
  if (i < n) out[i] = ring[rounds & 1][threadIdx.x];
}
