// A^T A through two unpadded 16 x 16 shared tiles, one output a thread. The left tile is kept
// transposed, so that its stores and loads fall on the same banks.
__global__ void ata_tiled(const float* a, float* g, int m, int n) {
  __shared__ float left[16][16];
  __shared__ float right[16][16];
  int tx = threadIdx.x, ty = threadIdx.y;
  int i0 = blockIdx.y * 16, j0 = blockIdx.x * 16;
  float sum = 0.0f;
  int steps = (m + 15) / 16;
  for (int s = 0; s < steps; ++s) {
    int r = s * 16 + ty;
    left[tx][ty] = (r < m && i0 + tx < n) ? a[r * n + i0 + tx] : 0.0f;
    right[ty][tx] = (r < m && j0 + tx < n) ? a[r * n + j0 + tx] : 0.0f;
    __syncthreads();
    for (int k = 0; k < 16; ++k) {
      sum += left[ty][k] * right[k][tx];
    }
    __syncthreads();
  }
  if (i0 + ty < n && j0 + tx < n) g[(i0 + ty) * n + j0 + tx] = sum;
}
