// 32x32 tiles in shared memory, one thread an element.
__global__ void matmul(const float* a, const float* b, float* c, int n) {
  __shared__ float a_tile[32][32];
  __shared__ float b_tile[32][32];
  const int column = blockIdx.x * 32 + threadIdx.x;
  const int row = blockIdx.y * 32 + threadIdx.y;
  float sum = 0.0f;
  for (int start = 0; start < n; start += 32) {
    a_tile[threadIdx.y][threadIdx.x] = a[row * n + start + threadIdx.x];
    b_tile[threadIdx.y][threadIdx.x] = b[(start + threadIdx.y) * n + column];
    __syncthreads();
    for (int i = 0; i < 32; ++i) sum += a_tile[threadIdx.y][i] * b_tile[i][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}
