// A block a token and head; the state of an attention is an object that others are merged into.
#include <cuda_fp16.h>
#include <stdint.h>

struct Weights {
  float a;
  float b;
  float lse;
};

__device__ __forceinline__ Weights merge_weights(float lse_a, float lse_b) {
  const float peak = max(lse_a, lse_b);
  const float exp_a = expf(lse_a - peak);
  const float exp_b = expf(lse_b - peak);
  const float total = exp_a + exp_b;
  return {exp_a / total, exp_b / total, logf(total) + peak};
}

template <typename scalar_t>
__device__ __forceinline__ void merge_states(scalar_t* __restrict__ output, float* __restrict__ output_lse,
                                             const scalar_t* __restrict__ prefix, const float* __restrict__ prefix_lse,
                                             const scalar_t* __restrict__ suffix, const float* __restrict__ suffix_lse,
                                             int num_heads, int head_size) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * num_heads + blockIdx.y;
  const Weights weights = merge_weights(prefix_lse[row], suffix_lse[row]);
  for (int i = threadIdx.x; i < head_size; i += blockDim.x) {
    const float p = static_cast<float>(prefix[row * head_size + i]);
    const float s = static_cast<float>(suffix[row * head_size + i]);
    output[row * head_size + i] = static_cast<scalar_t>(p * weights.a + s * weights.b);
  }
  if (threadIdx.x == 0) output_lse[row] = weights.lse;
}

__global__ void merge_attention_states(const __half* __restrict__ out_a, const float* __restrict__ lse_a,
                                       const __half* __restrict__ out_b, const float* __restrict__ lse_b,
                                       __half* __restrict__ out, float* __restrict__ lse, int tokens, int heads,
                                       int size) {
  merge_states<__half>(out, lse, out_a, lse_a, out_b, lse_b, heads, size);
}
