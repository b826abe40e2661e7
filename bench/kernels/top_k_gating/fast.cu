// A warp a token, up to 256 logits in registers, k rounds of a maximum over the lanes; the softmax's sum over all
// experts cancels. A thread's logits of more experts are read again in each round.
constexpr int kHeld = 8;

struct Best {
  float logit;
  int expert;
};

__device__ __forceinline__ Best better(Best a, Best b) {
  return a.logit > b.logit || (a.logit == b.logit && a.expert < b.expert) ? a : b;
}

__device__ __forceinline__ Best warp_best(Best value) {
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) {
    const Best other = {__shfl_xor_sync(0xffffffffu, value.logit, offset),
                        __shfl_xor_sync(0xffffffffu, value.expert, offset)};
    value = better(value, other);
  }
  return value;
}

__device__ __forceinline__ bool comes_after(float logit, int expert, Best last) {
  return logit < last.logit || (logit == last.logit && expert > last.expert);
}

__global__ void __launch_bounds__(256) top_k_gating(const float* __restrict__ logits, int* __restrict__ ids,
                                                    float* __restrict__ weights, int tokens, int experts, int k) {
  const int lane = threadIdx.x % 32;
  const int token = blockIdx.x * 8 + threadIdx.x / 32;
  if (token >= tokens) return;
  logits += static_cast<size_t>(token) * experts;
  ids += static_cast<size_t>(token) * k;
  weights += static_cast<size_t>(token) * k;
  float held[kHeld];
#pragma unroll
  for (int i = 0; i < kHeld; ++i)
    held[i] = lane + 32 * i < experts ? logits[lane + 32 * i] : -INFINITY;
  Best last = {INFINITY, -1};
  float highest = 0.0f;
  float total = 0.0f;
  for (int j = 0; j < k; ++j) {
    Best best = {-INFINITY, -1};
#pragma unroll
    for (int i = 0; i < kHeld; ++i) {
      const int expert = lane + 32 * i;
      if (expert < experts && comes_after(held[i], expert, last)) best = better(best, {held[i], expert});
    }
    for (int expert = lane + 32 * kHeld; expert < experts; expert += 32) {
      const float logit = logits[expert];
      if (comes_after(logit, expert, last)) best = better(best, {logit, expert});
    }
    last = warp_best(best);
    if (j == 0) highest = last.logit;
    const float weight = __expf(last.logit - highest);
    total += weight;
    if (lane == 0) {
      ids[j] = last.expert;
      weights[j] = weight;
    }
  }
  __syncwarp();
  for (int j = lane; j < k; j += 32)
    weights[j] /= total;
}
