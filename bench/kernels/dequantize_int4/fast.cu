// A word and 16 bytes of results a thread, four of them in flight. Nibbles become halves by putting them into the
// mantissa of 1024, two at a time; products of halves are rounded once, as those of floats would be.
#include <cuda_fp16.h>

constexpr int kThreads = 256;
constexpr int kWords = 4;

struct alignas(16) Pack {
  __half2 pair[4];
};

// As words: a structure of pairs would be read and written pair by pair.
__device__ __forceinline__ Pack load(const __half* from) {
  Pack pack;
  *reinterpret_cast<uint4*>(&pack) = *reinterpret_cast<const uint4*>(from);
  return pack;
}

__device__ __forceinline__ void store(__half* to, const Pack& pack) {
  *reinterpret_cast<uint4*>(to) = *reinterpret_cast<const uint4*>(&pack);
}

__device__ __forceinline__ __half2 two_weights(unsigned int word) {
  const unsigned int bits = (word & 0x000f000fu) | 0x64006400u;
  const unsigned int zero = 0x64086408u;  // 1032
  return __hsub2(*reinterpret_cast<const __half2*>(&bits), *reinterpret_cast<const __half2*>(&zero));
}

__global__ void __launch_bounds__(kThreads)
    dequantize_int4(const unsigned int* __restrict__ packed, const __half* __restrict__ scales,
                    __half* __restrict__ out, int rows, int groups) {
  const int words = rows * groups * 16;
  const int first = blockIdx.x * kThreads * kWords + threadIdx.x;
  unsigned int word[kWords];
  __half2 scale[kWords];
#pragma unroll
  for (int k = 0; k < kWords; ++k) {
    const int w = first + k * kThreads;
    if (w < words) {
      word[k] = __ldcs(packed + w);
      scale[k] = __half2half2(scales[w / 16]);
    }
  }
#pragma unroll
  for (int k = 0; k < kWords; ++k) {
    const int w = first + k * kThreads;
    if (w >= words) continue;
    __half2 v[4];  // weights j and j + 4
#pragma unroll
    for (int j = 0; j < 4; ++j)
      v[j] = __hmul2(two_weights(word[k] >> 4 * j), scale[k]);
    Pack result;
    result.pair[0] = __lows2half2(v[0], v[1]);
    result.pair[1] = __lows2half2(v[2], v[3]);
    result.pair[2] = __highs2half2(v[0], v[1]);
    result.pair[3] = __highs2half2(v[2], v[3]);
    store(out + 8 * static_cast<size_t>(w), result);
  }
}
