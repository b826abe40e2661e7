// As in a textbook: a block computes a tile of C from tiles of A and B in shared memory.
#define TILE_WIDTH 16

__global__ void sgemm(const float* A, const float* B, float* C, int M, int N, int K, float alpha, float beta) {
  __shared__ float tileA[TILE_WIDTH][TILE_WIDTH];
  __shared__ float tileB[TILE_WIDTH][TILE_WIDTH];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * TILE_WIDTH + ty;
  int col = blockIdx.x * TILE_WIDTH + tx;
  float sum = 0.0f;
  for (int phase = 0; phase < (K + TILE_WIDTH - 1) / TILE_WIDTH; ++phase) {
    if (row < M && phase * TILE_WIDTH + tx < K)
      tileA[ty][tx] = A[row * K + phase * TILE_WIDTH + tx];
    else
      tileA[ty][tx] = 0.0f;
    if (phase * TILE_WIDTH + ty < K && col < N)
      tileB[ty][tx] = B[(phase * TILE_WIDTH + ty) * N + col];
    else
      tileB[ty][tx] = 0.0f;
    __syncthreads();
    for (int k = 0; k < TILE_WIDTH; ++k) sum += tileA[ty][k] * tileB[k][tx];
    __syncthreads();
  }
  if (row < M && col < N) C[row * N + col] = alpha * sum + beta * C[row * N + col];
}
