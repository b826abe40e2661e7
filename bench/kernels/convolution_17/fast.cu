// 32 x 64 outputs a block, eight rows a thread. Window and filter lie in shared memory, the filter by columns; a
// thread slides down 24 values of a column for eight outputs.
__global__ void __launch_bounds__(256) convolution_17(const float* __restrict__ in, const float* __restrict__ filter,
                                                      float* __restrict__ out, int height, int width) {
  constexpr int kSize = 17;
  constexpr int kRadius = 8;
  constexpr int kRows = 8;
  constexpr int kTileWidth = 32 + 2 * kRadius;
  constexpr int kTileHeight = 8 * kRows + 2 * kRadius;
  __shared__ float tile[kTileHeight][kTileWidth];
  __shared__ __align__(16) float taps[kSize][20];
  const int left = blockIdx.x * 32;
  const int top = blockIdx.y * (8 * kRows);
  const int thread = threadIdx.y * 32 + threadIdx.x;
  for (int i = thread; i < kSize * kSize; i += 256) taps[i % kSize][i / kSize] = filter[i];
  for (int y = threadIdx.y; y < kTileHeight; y += 8) {
    for (int x = threadIdx.x; x < kTileWidth; x += 32) {
      const int from_y = top + y - kRadius;
      const int from_x = left + x - kRadius;
      tile[y][x] = from_y >= 0 && from_y < height && from_x >= 0 && from_x < width
                       ? in[static_cast<size_t>(from_y) * width + from_x]
                       : 0.0f;
    }
  }
  __syncthreads();
  const int row = threadIdx.y * kRows;
  float sums[kRows] = {};
  for (int fx = 0; fx < kSize; ++fx) {
    float column[kRows + kSize - 1];
#pragma unroll
    for (int k = 0; k < kRows + kSize - 1; ++k) column[k] = tile[row + k][threadIdx.x + fx];
    float weights[20];
#pragma unroll
    for (int k = 0; k < 20; k += 4) {
      const float4 v = *reinterpret_cast<const float4*>(&taps[fx][k]);
      weights[k] = v.x;
      weights[k + 1] = v.y;
      weights[k + 2] = v.z;
      weights[k + 3] = v.w;
    }
#pragma unroll
    for (int fy = 0; fy < kSize; ++fy) {
#pragma unroll
      for (int k = 0; k < kRows; ++k) sums[k] = fmaf(column[k + fy], weights[fy], sums[k]);
    }
  }
  const int x = left + threadIdx.x;
#pragma unroll
  for (int k = 0; k < kRows; ++k) {
    if (x < width && top + row + k < height) out[static_cast<size_t>(top + row + k) * width + x] = sums[k];
  }
}
