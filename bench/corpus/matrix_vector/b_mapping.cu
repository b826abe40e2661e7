// A matrix stored column after column times a vector. The thread's row is the y index of a block
// that is 2 wide and 64 tall, and both columns of threads of a block take half of the sum each.
__global__ void by_halves(const float* stored, const float* x, float* y, int rows, int columns) {
  __shared__ float half_sum[64][2];
  int i = blockIdx.y * 64 + threadIdx.y;
  float own = 0.0f;
  if (i < rows) {
    for (int j = threadIdx.x; j < columns; j += 2) {
      own += stored[j * rows + i] * x[j];
    }
  }
  half_sum[threadIdx.y][threadIdx.x] = own;
  __syncthreads();
  if (i < rows && threadIdx.x == 0) {
    y[i] = half_sum[threadIdx.y][0] + half_sum[threadIdx.y][1];
  }
}
