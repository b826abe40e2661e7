// One block a token: k rounds of a reduction over pairs of logit and expert, in which those chosen before are skipped.
#include <stdint.h>

struct Candidate {
  float logit;
  int expert;
};

struct Better {
  __device__ __forceinline__ Candidate operator()(const Candidate& a, const Candidate& b) const {
    if (a.logit > b.logit || (a.logit == b.logit && a.expert < b.expert)) return a;
    return b;
  }
};

__device__ __forceinline__ Candidate shuffle_down(const Candidate& v, int offset) {
  return {__shfl_down_sync(0xffffffff, v.logit, offset), __shfl_down_sync(0xffffffff, v.expert, offset)};
}

template <int kThreads, typename T, typename Op>
__device__ __forceinline__ T block_reduce(T value, Op op) {
  __shared__ T partial[kThreads / 32];
#pragma unroll
  for (int offset = 16; offset > 0; offset >>= 1)
    value = op(value, shuffle_down(value, offset));
  __syncthreads();
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
  __syncthreads();
  T result = partial[0];
#pragma unroll
  for (int i = 1; i < kThreads / 32; ++i)
    result = op(result, partial[i]);
  return result;
}

template <typename T, int kThreads>
__device__ void top_k_softmax(const T* __restrict__ gating, float* __restrict__ weights, int* __restrict__ indices,
                              int num_experts, int top_k) {
  const int64_t token = blockIdx.x;
  gating += token * num_experts;
  weights += token * top_k;
  indices += token * top_k;
  Candidate last{INFINITY, -1};
  float highest = 0.0f;
  float total = 0.0f;
  for (int round = 0; round < top_k; ++round) {
    Candidate best{-INFINITY, -1};
    for (int e = threadIdx.x; e < num_experts; e += kThreads) {
      const Candidate mine{static_cast<float>(gating[e]), e};
      const bool is_left = mine.logit < last.logit || (mine.logit == last.logit && e > last.expert);
      if (is_left) best = Better()(mine, best);
    }
    last = block_reduce<kThreads>(best, Better());
    if (round == 0) highest = last.logit;
    const float weight = expf(last.logit - highest);
    total += weight;
    if (threadIdx.x == 0) {
      indices[round] = last.expert;
      weights[round] = weight;
    }
  }
  if (threadIdx.x == 0) {
    const float inverse = 1.0f / total;
    for (int round = 0; round < top_k; ++round)
      weights[round] *= inverse;
  }
}

__global__ void top_k_gating(const float* __restrict__ logits, int* __restrict__ ids, float* __restrict__ weights,
                             int tokens, int experts, int k) {
  top_k_softmax<float, 128>(logits, weights, ids, experts, k);
}
