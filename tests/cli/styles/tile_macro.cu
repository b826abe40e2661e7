// The block must be TILE x TILE.
#ifndef TILE
#define TILE 16
#endif
__global__ void tiled_transpose(const float* in, float* out, int n) {
  __shared__ float t[TILE][TILE + 1];
  int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  if (x < n && y < n) t[threadIdx.y][threadIdx.x] = in[y * n + x];
  __syncthreads();
  x = blockIdx.y * TILE + threadIdx.x;
  y = blockIdx.x * TILE + threadIdx.y;
  if (x < n && y < n) out[y * n + x] = t[threadIdx.x][threadIdx.y];
}
