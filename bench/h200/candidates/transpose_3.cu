// out = transpose(in) for a height x width matrix. Reads are coalesced, writes are a column apart.
__global__ void transpose(
    const float* in,
    float* out,
    int width,
    int height) {
  __shared__ float out_tile[2][4][32][33];
  #pragma unroll
  for (int cx = 0; cx < 4; ++cx) {
    int x = (blockIdx.x * 4 + cx) * blockDim.x + threadIdx.x;
    #pragma unroll
    for (int cy = 0; cy < 2; ++cy) {
      int y = (blockIdx.y * 2 + cy) * blockDim.y + threadIdx.y;
      if (x < width && y < height) {
        out_tile[cy][cx][threadIdx.y][threadIdx.x] = in[y * width + x];
      }
    }
  }
  __syncthreads();
  #pragma unroll
  for (int cx = 0; cx < 4; ++cx) {
    const int x_t = (blockIdx.x * 4 + cx) * blockDim.x + threadIdx.y;
    #pragma unroll
    for (int cy = 0; cy < 2; ++cy) {
      const int y_t = (blockIdx.y * 2 + cy) * blockDim.y + threadIdx.x;
      if (x_t < width && y_t < height) {
        out[x_t * height + y_t] = out_tile[cy][cx][threadIdx.x][threadIdx.y];
      }
    }
  }
}
