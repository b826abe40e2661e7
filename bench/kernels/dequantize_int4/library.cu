// One thread a word; the element is a template parameter and results go out as a vector.
#include <cuda_fp16.h>
#include <stdint.h>

template <typename scalar_t, int kSize>
struct alignas(sizeof(scalar_t) * kSize) Vec {
  scalar_t data[kSize];
};

template <typename scalar_t, int kBits>
__device__ __forceinline__ Vec<scalar_t, 32 / kBits> dequantize_word(uint32_t word, scalar_t scale) {
  constexpr int kPerWord = 32 / kBits;
  constexpr uint32_t kMask = (1u << kBits) - 1;
  Vec<scalar_t, kPerWord> result;
#pragma unroll
  for (int i = 0; i < kPerWord; ++i) {
    const int q = static_cast<int>((word >> (i * kBits)) & kMask) - (1 << (kBits - 1));
    result.data[i] = static_cast<scalar_t>(static_cast<float>(q) * static_cast<float>(scale));
  }
  return result;
}

template <typename scalar_t, int kBits, int kGroup>
__global__ void dequantize_int4(const uint32_t* __restrict__ packed, const scalar_t* __restrict__ scales,
                                scalar_t* __restrict__ out, int rows, int groups) {
  constexpr int kPerWord = 32 / kBits;
  const int64_t words = static_cast<int64_t>(rows) * groups * (kGroup / kPerWord);
  const int64_t index = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (index >= words) return;
  const scalar_t scale = scales[index / (kGroup / kPerWord)];
  reinterpret_cast<Vec<scalar_t, kPerWord>*>(out)[index] = dequantize_word<scalar_t, kBits>(packed[index], scale);
}

template __global__ void dequantize_int4<__half, 4, 128>(const uint32_t*, const __half*, __half*, int, int);
