// A transpose of channels against pixels for each image: 64 x 64 elements a block through a padded tile.
__global__ void __launch_bounds__(256) permute_nchw_nhwc(const float* __restrict__ in, float* __restrict__ out,
                                                         int batch, int channels, int height, int width) {
  constexpr int kTile = 64;
  __shared__ float tile[kTile][kTile + 1];
  const int area = height * width;
  const int left = blockIdx.x * kTile;
  const int top = blockIdx.y * kTile;
  const size_t image = static_cast<size_t>(blockIdx.z) * channels * area;
#pragma unroll
  for (int c = threadIdx.y; c < kTile; c += 8) {
#pragma unroll
    for (int p = threadIdx.x; p < kTile; p += 32) {
      if (top + c < channels && left + p < area) {
        tile[c][p] = in[image + static_cast<size_t>(top + c) * area + left + p];
      }
    }
  }
  __syncthreads();
#pragma unroll
  for (int p = threadIdx.y; p < kTile; p += 8) {
#pragma unroll
    for (int c = threadIdx.x; c < kTile; c += 32) {
      if (left + p < area && top + c < channels) {
        out[image + static_cast<size_t>(left + p) * channels + top + c] = tile[c][p];
      }
    }
  }
}
