// Control: transpose through a padded shared tile, four elements a thread, loads and stores both
// coalesced and free of bank conflicts. Memory is the limit.
#define SIDE 32
#define STEP 8
__global__ void transpose_tuned(const float* __restrict__ a, float* __restrict__ b, int rows,
                                int cols) {
  __shared__ float tile[SIDE][SIDE + 1];
  int x = blockIdx.x * SIDE + threadIdx.x;
  int y = blockIdx.y * SIDE + threadIdx.y;
#pragma unroll
  for (int k = 0; k < SIDE; k += STEP) {
    if (x < cols && y + k < rows) tile[threadIdx.y + k][threadIdx.x] = a[(y + k) * cols + x];
  }
  __syncthreads();
  x = blockIdx.y * SIDE + threadIdx.x;
  y = blockIdx.x * SIDE + threadIdx.y;
#pragma unroll
  for (int k = 0; k < SIDE; k += STEP) {
    if (x < rows && y + k < cols) b[(y + k) * rows + x] = tile[threadIdx.x][threadIdx.y + k];
  }
}
