// 64 x 64 elements a block through a padded tile, 16 a thread, all loads before the barrier.
__global__ void __launch_bounds__(256) transpose(const float* __restrict__ in, float* __restrict__ out,
                                                 int rows, int columns) {
  constexpr int kTile = 64;
  __shared__ float tile[kTile][kTile + 1];
  const int left = blockIdx.x * kTile;
  const int top = blockIdx.y * kTile;
#pragma unroll
  for (int y = threadIdx.y; y < kTile; y += 8) {
#pragma unroll
    for (int x = threadIdx.x; x < kTile; x += 32) {
      if (top + y < rows && left + x < columns) {
        tile[y][x] = in[static_cast<size_t>(top + y) * columns + left + x];
      }
    }
  }
  __syncthreads();
#pragma unroll
  for (int y = threadIdx.y; y < kTile; y += 8) {
#pragma unroll
    for (int x = threadIdx.x; x < kTile; x += 32) {
      if (left + y < columns && top + x < rows) {
        out[static_cast<size_t>(left + y) * rows + top + x] = tile[x][y];
      }
    }
  }
}
