// Global maximum pooling: one block a plane, every thread takes a strided part, then a tree in
// shared memory with a barrier a level (interleaved addressing with %).
__global__ void global_max_pool(const float* maps, float* peaks, int area) {
  __shared__ float best[128];
  int t = threadIdx.x;
  const float* plane = maps + blockIdx.x * area;
  float m = plane[0];
  for (int i = t; i < area; i += 128) {
    m = fmaxf(m, plane[i]);
  }
  best[t] = m;
  __syncthreads();
  for (int s = 1; s < 128; s *= 2) {
    if (t % (2 * s) == 0) best[t] = fmaxf(best[t], best[t + s]);
    __syncthreads();
  }
  if (t == 0) peaks[blockIdx.x] = best[0];
}
