// out = transpose(in) for a height x width matrix. Reads are coalesced, writes are a column apart.
__global__ void transpose(
    const float* in,
    float* out,
    int width,
    int height) {
  __shared__ float out_tile[4][16][17];
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  #pragma unroll
  for (int cx = 0; cx < 4; ++cx) {
    int x = (blockIdx.x * 4 + cx) * blockDim.x + threadIdx.x;
    if (x < width && y < height) {
      out_tile[cx][threadIdx.y][threadIdx.x] = in[y * width + x];
    }
  }
  __syncthreads();
  const int y_t = blockIdx.y * blockDim.y + threadIdx.x;
  #pragma unroll
  for (int cx = 0; cx < 4; ++cx) {
    const int x_t = (blockIdx.x * 4 + cx) * blockDim.x + threadIdx.y;
    if (x_t < width && y_t < height) {
      out[x_t * height + y_t] = out_tile[cx][threadIdx.x][threadIdx.y];
    }
  }
}
