// 32 columns a block, 32 warps down the rows with eight loads in flight each, sums joined in shared memory.
__global__ void __launch_bounds__(1024) column_sum(const float* __restrict__ x, float* __restrict__ sums, int rows,
                                                   int columns) {
  __shared__ float parts[32][33];
  const int c = blockIdx.x * 32 + threadIdx.x;
  float sum = 0.0f;
  if (c < columns) {
#pragma unroll 8
    for (int r = threadIdx.y; r < rows; r += 32) sum += x[static_cast<size_t>(r) * columns + c];
  }
  parts[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  sum = parts[threadIdx.x][threadIdx.y];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  const int mine = blockIdx.x * 32 + threadIdx.y;
  if (threadIdx.x == 0 && mine < columns) sums[mine] = sum;
}
