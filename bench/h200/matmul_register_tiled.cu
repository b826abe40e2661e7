// C = A * B for sizes that are multiples of 128, 128 and 8: 128x128 tile a block, 8x8 a thread.
__global__ void __launch_bounds__(256)
    matmul(const float* a, const float* b, float* c, int n) {
  __shared__ float a_tile[8][128];
  __shared__ float b_tile[8][128];
  const int tx = threadIdx.x % 16;
  const int ty = threadIdx.x / 16;
  a += static_cast<size_t>(blockIdx.y) * 128 * n;
  b += blockIdx.x * 128;
  const int a_row = threadIdx.x / 2;
  const int a_column = threadIdx.x % 2 * 4;
  const int b_row = threadIdx.x / 32;
  const int b_column = threadIdx.x % 32 * 4;
  float sum[8][8] = {};
  for (int start = 0; start < n; start += 8) {
    const float4 av = *reinterpret_cast<const float4*>(&a[a_row * n + start + a_column]);
    a_tile[a_column + 0][a_row] = av.x;
    a_tile[a_column + 1][a_row] = av.y;
    a_tile[a_column + 2][a_row] = av.z;
    a_tile[a_column + 3][a_row] = av.w;
    *reinterpret_cast<float4*>(&b_tile[b_row][b_column]) =
        *reinterpret_cast<const float4*>(&b[(start + b_row) * n + b_column]);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      float af[8], bf[8];
#pragma unroll
      for (int j = 0; j < 8; j += 4) {
        *reinterpret_cast<float4*>(&af[j]) = *reinterpret_cast<float4*>(&a_tile[i][ty * 8 + j]);
        *reinterpret_cast<float4*>(&bf[j]) = *reinterpret_cast<float4*>(&b_tile[i][tx * 8 + j]);
      }
#pragma unroll
      for (int y = 0; y < 8; ++y) {
#pragma unroll
        for (int x = 0; x < 8; ++x) sum[y][x] += af[y] * bf[x];
      }
    }
    __syncthreads();
  }
  for (int y = 0; y < 8; ++y) {
    for (int x = 0; x < 8; x += 4) {
      *reinterpret_cast<float4*>(
          &c[(static_cast<size_t>(blockIdx.y) * 128 + ty * 8 + y) * n + blockIdx.x * 128 + tx * 8 +
             x]) = make_float4(sum[y][x], sum[y][x + 1], sum[y][x + 2], sum[y][x + 3]);
    }
  }
}
