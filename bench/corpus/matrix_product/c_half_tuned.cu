// Product of a matrix with the transpose of another through shared tiles of 16 x 16 without
// padding, one element of the result a thread; the second tile is read down its rows.
#define T 16

__global__ void product_tiles(const float* __restrict__ a, const float* __restrict__ bt,
                              float* __restrict__ c, int m, int n, int k) {
  __shared__ float sa[T][T];
  __shared__ float sb[T][T];
  int x = threadIdx.x;
  int y = threadIdx.y;
  int row = blockIdx.y * T + y;
  int column = blockIdx.x * T + x;
  int column_to_load = blockIdx.x * T + y;
  float sum = 0.0f;
  for (int start = 0; start < k; start += T) {
    sa[y][x] = 0.0f;
    sb[y][x] = 0.0f;
    if (row < m && start + x < k) {
      sa[y][x] = a[row * k + start + x];
    }
    if (column_to_load < n && start + x < k) {
      sb[y][x] = bt[column_to_load * k + start + x];
    }
    __syncthreads();
    for (int i = 0; i < T; ++i) {
      sum += sa[y][i] * sb[x][i];
    }
    __syncthreads();
  }
  if (row < m && column < n) {
    c[row * n + column] = sum;
  }
}
