// Transposes a matrix through a shared tile, 32 x 8 threads for 32 x 32 elements. The tile's rows
// are 32 floats long, so that reading a column of it hits one bank 32 times.
#define SIDE 32
#define ROUND 8

__global__ void turn_tiles(const float* __restrict__ a, float* __restrict__ b, int m, int n) {
  __shared__ float tile[SIDE][SIDE];
  int left = blockIdx.x * SIDE;
  int top = blockIdx.y * SIDE;
  for (int k = 0; k < SIDE; k += ROUND) {
    if (left + threadIdx.x < n && top + threadIdx.y + k < m) {
      tile[threadIdx.y + k][threadIdx.x] = a[(top + threadIdx.y + k) * n + left + threadIdx.x];
    }
  }
  __syncthreads();
  for (int k = 0; k < SIDE; k += ROUND) {
    if (top + threadIdx.x < m && left + threadIdx.y + k < n) {
      b[(left + threadIdx.y + k) * m + top + threadIdx.x] = tile[threadIdx.x][threadIdx.y + k];
    }
  }
}
