// A matrix times a vector, a block of 256 threads a row: strided products and a tree in shared
// memory that is as long as the block although rows have no more than a few hundred elements.
__global__ void one_block_a_row(const float* __restrict__ a, const float* __restrict__ x,
                                float* __restrict__ y, int columns) {
  __shared__ float work[256];
  unsigned lane = threadIdx.x;
  float sum = 0.0f;
  for (unsigned j = lane; j < columns; j += blockDim.x) {
    sum += a[blockIdx.x * columns + j] * x[j];
  }
  work[lane] = sum;
  __syncthreads();
  for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
    if (lane < s) {
      work[lane] += work[lane + s];
    }
    __syncthreads();
  }
  if (lane == 0) {
    y[blockIdx.x] = work[0];
  }
}
