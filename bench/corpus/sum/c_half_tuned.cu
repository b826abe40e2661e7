// The sum of every row of a matrix with a block a row: strided loads, then a tree in shared memory
// whose active threads are spread out (every second, every fourth ...), a barrier a level.
__global__ void row_sums_tree(const float* __restrict__ matrix, float* __restrict__ sums,
                              int columns) {
  __shared__ float cell[128];
  int t = threadIdx.x;
  float own = 0.0f;
  for (int c = t; c < columns; c += blockDim.x) {
    own += matrix[blockIdx.x * columns + c];
  }
  cell[t] = own;
  __syncthreads();
  for (int s = 1; s < blockDim.x; s *= 2) {
    if (t % (2 * s) == 0) {
      cell[t] += cell[t + s];
    }
    __syncthreads();
  }
  if (t == 0) {
    sums[blockIdx.x] = cell[0];
  }
}
