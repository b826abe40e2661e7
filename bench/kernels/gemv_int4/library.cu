// One block a row, one word a thread and round; bits, group and element are template parameters.
#include <cuda_fp16.h>
#include <stdint.h>

template <int kBits>
struct Packed {
  static constexpr int kPerWord = 32 / kBits;
  static constexpr int kZero = 1 << (kBits - 1);
  uint32_t word;
  __device__ __forceinline__ int operator[](int i) const {
    return static_cast<int>((word >> (kBits * i)) & ((1u << kBits) - 1)) - kZero;
  }
};

template <int kThreads>
__device__ __forceinline__ float block_sum(float value) {
  __shared__ float warp_sums[kThreads / 32];
#pragma unroll
  for (int offset = 16; offset > 0; offset >>= 1)
    value += __shfl_down_sync(0xffffffff, value, offset);
  if (threadIdx.x % 32 == 0) warp_sums[threadIdx.x / 32] = value;
  __syncthreads();
  float total = 0.0f;
#pragma unroll
  for (int i = 0; i < kThreads / 32; ++i)
    total += warp_sums[i];
  return total;
}

template <typename scalar_t, int kBits, int kGroup, int kThreads>
__device__ void quantized_gemv(const uint32_t* __restrict__ weight, const scalar_t* __restrict__ scales,
                               const scalar_t* __restrict__ input, scalar_t* __restrict__ output, int groups) {
  using Weights = Packed<kBits>;
  constexpr int kWordsPerGroup = kGroup / Weights::kPerWord;
  const int64_t row = blockIdx.x;
  const int words = groups * kWordsPerGroup;
  float sum = 0.0f;
  for (int w = threadIdx.x; w < words; w += kThreads) {
    const Weights weights{weight[row * words + w]};
    const float scale = static_cast<float>(scales[row * groups + w / kWordsPerGroup]);
    float part = 0.0f;
#pragma unroll
    for (int i = 0; i < Weights::kPerWord; ++i) {
      part += weights[i] * static_cast<float>(input[w * Weights::kPerWord + i]);
    }
    sum += scale * part;
  }
  sum = block_sum<kThreads>(sum);
  if (threadIdx.x == 0) output[row] = static_cast<scalar_t>(sum);
}

__global__ void gemv_int4(const uint32_t* __restrict__ packed, const __half* __restrict__ scales,
                          const __half* __restrict__ x, __half* __restrict__ y, int rows, int groups) {
  quantized_gemv<__half, 4, 128, 128>(packed, scales, x, y, groups);
}
