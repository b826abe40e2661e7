// out[k][i][j] = in[i][j][k]: for every i a transposition of a plane, through a shared tile of 16 x
// 16 without padding; half warps use half sectors of the lines.
__global__ void permute_tiles(const float* __restrict__ in, float* __restrict__ out, int planes,
                              int rows, int columns) {
  __shared__ float square[16][16];
  int i = blockIdx.z;
  int k = blockIdx.x * 16 + threadIdx.x;
  int j = blockIdx.y * 16 + threadIdx.y;
  if (j < rows && k < columns) {
    square[threadIdx.y][threadIdx.x] = in[(i * rows + j) * columns + k];
  }
  __syncthreads();
  int to_j = blockIdx.y * 16 + threadIdx.x;
  int to_k = blockIdx.x * 16 + threadIdx.y;
  if (to_j < rows && to_k < columns) {
    out[(to_k * planes + i) * rows + to_j] = square[threadIdx.x][threadIdx.y];
  }
}
