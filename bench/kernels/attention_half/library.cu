// A warp a query: each lane has four dimensions, scores are summed by shuffles, the softmax is online.
#include <cuda_fp16.h>
#include <stdint.h>

template <typename scalar_t, int kSize>
struct alignas(sizeof(scalar_t) * kSize) Vec {
  scalar_t data[kSize];
  __device__ static __forceinline__ Vec load(const scalar_t* from) { return *reinterpret_cast<const Vec*>(from); }
  __device__ __forceinline__ void store(scalar_t* to) const { *reinterpret_cast<Vec*>(to) = *this; }
};

__device__ __forceinline__ float warp_sum(float value) {
#pragma unroll
  for (int mask = 16; mask > 0; mask >>= 1)
    value += __shfl_xor_sync(0xffffffff, value, mask);
  return value;
}

template <typename scalar_t, int kHeadSize>
__device__ void attention_forward(const scalar_t* __restrict__ q, const scalar_t* __restrict__ k,
                                  const scalar_t* __restrict__ v, scalar_t* __restrict__ output, float scale,
                                  int seq_len) {
  constexpr int kVec = kHeadSize / 32;
  using V = Vec<scalar_t, kVec>;
  const int lane = threadIdx.x % 32;
  const int token = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  if (token >= seq_len) return;
  const int64_t head = static_cast<int64_t>(blockIdx.y) * seq_len * kHeadSize;
  const int64_t offset = head + static_cast<int64_t>(token) * kHeadSize + lane * kVec;
  const V mine = V::load(q + offset);
  float acc[kVec] = {};
  float highest = -INFINITY;
  float sum = 0.0f;
  for (int t = 0; t < seq_len; ++t) {
    const int64_t at = head + static_cast<int64_t>(t) * kHeadSize + lane * kVec;
    const V key = V::load(k + at);
    const V value = V::load(v + at);
    float score = 0.0f;
#pragma unroll
    for (int i = 0; i < kVec; ++i)
      score += static_cast<float>(mine.data[i]) * static_cast<float>(key.data[i]);
    score = warp_sum(score) * scale;
    const float next = fmaxf(highest, score);
    const float shrink = __expf(highest - next);
    const float weight = __expf(score - next);
    sum = sum * shrink + weight;
#pragma unroll
    for (int i = 0; i < kVec; ++i)
      acc[i] = acc[i] * shrink + weight * static_cast<float>(value.data[i]);
    highest = next;
  }
  V result;
#pragma unroll
  for (int i = 0; i < kVec; ++i)
    result.data[i] = static_cast<scalar_t>(acc[i] / sum);
  result.store(output + offset);
}

__global__ void attention_half(const __half* __restrict__ query, const __half* __restrict__ keys,
                               const __half* __restrict__ values, __half* __restrict__ out, float scale, int sequence) {
  attention_forward<__half, 128>(query, keys, values, out, scale, sequence);
}
