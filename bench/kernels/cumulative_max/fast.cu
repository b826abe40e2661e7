// 32 series a block, 32 warps with a stretch of the steps each. Rounds of 256 steps: eight loads in flight a
// thread, the maxima of the stretches exchanged in shared memory.
__global__ void __launch_bounds__(1024) cumulative_max(const float* __restrict__ x, float* __restrict__ out,
                                                       int steps, int series) {
  constexpr int kHeld = 8;
  __shared__ float peaks[2][32][32];
  const int s = blockIdx.x * 32 + threadIdx.x;
  float carry = -INFINITY;
  int buffer = 0;
  for (int first = 0; first < steps; first += 32 * kHeld) {
    const int t = first + threadIdx.y * kHeld;
    float held[kHeld];
#pragma unroll
    for (int k = 0; k < kHeld; ++k) {
      held[k] = s < series && t + k < steps ? x[static_cast<size_t>(t + k) * series + s] : -INFINITY;
    }
#pragma unroll
    for (int k = 1; k < kHeld; ++k) held[k] = fmaxf(held[k], held[k - 1]);
    peaks[buffer][threadIdx.y][threadIdx.x] = held[kHeld - 1];
    __syncthreads();
    float before = carry;
#pragma unroll 8
    for (int w = 0; w < 32; ++w) {
      const float peak = peaks[buffer][w][threadIdx.x];
      if (w < threadIdx.y) before = fmaxf(before, peak);
      carry = fmaxf(carry, peak);
    }
    buffer ^= 1;
#pragma unroll
    for (int k = 0; k < kHeld; ++k) {
      if (s < series && t + k < steps) out[static_cast<size_t>(t + k) * series + s] = fmaxf(before, held[k]);
    }
  }
}
