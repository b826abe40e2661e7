// Through a tile in shared memory.
__global__ void k(const float* in, float* out, int R, int C) {
  __shared__ float s[16][16];
  int c = blockIdx.x * 16 + threadIdx.x, r = blockIdx.y * 16 + threadIdx.y;
  if (r < R && c < C) s[threadIdx.y][threadIdx.x] = in[r * C + c];
  __syncthreads();
  int to_r = blockIdx.x * 16 + threadIdx.y, to_c = blockIdx.y * 16 + threadIdx.x;
  if (to_r < C && to_c < R) out[to_r * R + to_c] = s[threadIdx.x][threadIdx.y];
}
