// One block a row, and nothing says how many there are.
__global__ void row_sums(const float* in, float* out, int columns) {
  __shared__ float part[256];
  float s = 0;
  for (int c = threadIdx.x; c < columns; c += blockDim.x)
    s += in[blockIdx.x * columns + c];
  part[threadIdx.x] = s;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}
