// A sparse matrix in rows of 64 places times a vector, a block of 64 threads a row: one product
// each, then a tree in shared memory with a barrier at all six levels.
__global__ void sparse_block_row(const float* __restrict__ value, const int* __restrict__ column,
                                 const int* __restrict__ used, const float* __restrict__ x,
                                 float* __restrict__ y) {
  __shared__ float term[64];
  int lane = threadIdx.x;
  int row = blockIdx.x;
  float own = 0.0f;
  if (lane < used[row]) {
    own = value[row * 64 + lane] * x[column[row * 64 + lane]];
  }
  term[lane] = own;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (lane < s) {
      term[lane] += term[lane + s];
    }
    __syncthreads();
  }
  if (lane == 0) {
    y[row] = term[0];
  }
}
