// out = transpose(in) for a height x width matrix. Reads are coalesced, writes are a column apart.
__global__ void transpose(
    const float* in,
    float* out,
    int width,
    int height) {
  __shared__ float out_tile[32][32];
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) {
    out_tile[threadIdx.y][threadIdx.x] = in[y * width + x];
  }
  __syncthreads();
  const int x_t = blockIdx.x * blockDim.x + threadIdx.y;
  const int y_t = blockIdx.y * blockDim.y + threadIdx.x;
  if (x_t < width && y_t < height) {
    out[x_t * height + y_t] = out_tile[threadIdx.x][threadIdx.y];
  }
}
