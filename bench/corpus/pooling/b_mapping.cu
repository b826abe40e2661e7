// Average over overlapping 3 x 3 windows (stride 1) for many planes. The plane follows threadIdx.x
// although planes are far apart in memory: no two threads of a warp share a cache line.
__global__ void average_pool(const float* planes, float* pooled, int count, int h, int w) {
  int p = blockIdx.x * blockDim.x + threadIdx.x;
  int x = blockIdx.y * blockDim.y + threadIdx.y;
  int y = blockIdx.z;
  if (p >= count || x >= w) return;
  float total = 0.0f;
  for (int j = 0; j < 3; ++j)
    for (int i = 0; i < 3; ++i)
      total += planes[(p * (h + 2) + y + j) * (w + 2) + x + i];
  pooled[(p * h + y) * w + x] = total * (1.0f / 9.0f);
}
