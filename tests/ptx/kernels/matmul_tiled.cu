extern "C" __global__ void matmul_tiled(const float* a, const float* b, float* c, int m, int n,
                                        int k) {
  __shared__ float a_tile[32][32];
  __shared__ float b_tile[32][32];
  const int column = blockIdx.x * 32 + threadIdx.x;
  const int row = blockIdx.y * 32 + threadIdx.y;
  float sum = 0.0f;
  for (int start = 0; start < k; start += 32) {
    const int a_column = start + threadIdx.x;
    const int b_row = start + threadIdx.y;
    a_tile[threadIdx.y][threadIdx.x] = row < m && a_column < k ? a[row * k + a_column] : 0.0f;
    b_tile[threadIdx.y][threadIdx.x] = b_row < k && column < n ? b[b_row * n + column] : 0.0f;
    __syncthreads();
    for (int i = 0; i < 32; ++i) sum += a_tile[threadIdx.y][i] * b_tile[i][threadIdx.x];
    __syncthreads();
  }
  if (row < m && column < n) c[row * n + column] = sum;
}
