// One step of gradient descent with momentum and weight decay. A thread does two elements that lie
// a block's width apart: coarsened by hand, all in 4-byte accesses, one element after the other.
__global__ void momentum_step_by_two(const float* __restrict__ g, const float* __restrict__ m,
                                     float* __restrict__ v, float* __restrict__ w, float rate,
                                     float decay, int n) {
  int base = 2 * blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll
  for (int r = 0; r < 2; r++) {
    int j = base + r * blockDim.x;
    if (j < n) {
      float old = w[j];
      float moved = 0.9f * v[j] - rate * (g[j] * m[j] + decay * old);
      v[j] = moved;
      w[j] = old + moved;
    }
  }
}
