// Blocks of 32 by 8, four rows a thread.
__global__ void k(const float* in, float* out, int R, int C) {
  __shared__ float s[32][33];
  int c = blockIdx.x * 32 + threadIdx.x;
  for (int j = threadIdx.y; j < 32; j += 8) {
    int r = blockIdx.y * 32 + j;
    if (r < R && c < C) s[j][threadIdx.x] = in[r * C + c];
  }
  __syncthreads();
  int to = blockIdx.y * 32 + threadIdx.x;
  for (int j = threadIdx.y; j < 32; j += 8) {
    int from = blockIdx.x * 32 + j;
    if (from < C && to < R) out[from * R + to] = s[threadIdx.x][j];
  }
}
