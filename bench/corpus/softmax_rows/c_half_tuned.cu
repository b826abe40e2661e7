// Softmax along the rows, a block of 256 threads a row with two trees in shared memory, one for the
// maximum and one for the sum, whose strides halve down to 1 with a barrier each.
#define N_THREADS 256

__global__ void soft_max_block(const float* __restrict__ in, float* __restrict__ out, int width) {
  __shared__ float pool[N_THREADS];
  const int me = threadIdx.x;
  const int start = blockIdx.x * width;
  float high = -1.0e30f;
  for (int c = me; c < width; c += N_THREADS) {
    high = fmaxf(high, in[start + c]);
  }
  pool[me] = high;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (me < s) {
      pool[me] = fmaxf(pool[me], pool[me + s]);
    }
    __syncthreads();
  }
  high = pool[0];
  __syncthreads();
  float mass = 0.0f;
  for (int c = me; c < width; c += N_THREADS) {
    mass += expf(in[start + c] - high);
  }
  pool[me] = mass;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (me < s) {
      pool[me] += pool[me + s];
    }
    __syncthreads();
  }
  mass = pool[0];
  for (int c = me; c < width; c += N_THREADS) {
    out[start + c] = expf(in[start + c] - high) / mass;
  }
}
