// Four rows a warp: a lane takes a word of each and eight elements of x, which are converted once. Nibbles become
// halves by putting them into the mantissa of 1024, two at a time.
#include <cuda_fp16.h>

constexpr int kRows = 4;

struct alignas(16) Pack {
  __half2 pair[4];
};

// As words: a structure of pairs would be read and written pair by pair.
__device__ __forceinline__ Pack load(const __half* from) {
  Pack pack;
  *reinterpret_cast<uint4*>(&pack) = *reinterpret_cast<const uint4*>(from);
  return pack;
}

__device__ __forceinline__ float2 two_weights(unsigned int word) {
  const unsigned int bits = (word & 0x000f000fu) | 0x64006400u;
  const unsigned int zero = 0x64086408u;  // 1032
  const __half2 v = __hsub2(*reinterpret_cast<const __half2*>(&bits), *reinterpret_cast<const __half2*>(&zero));
  return __half22float2(v);
}

__global__ void __launch_bounds__(256)
    gemv_int4(const unsigned int* __restrict__ packed, const __half* __restrict__ scales, const __half* __restrict__ x,
              __half* __restrict__ y, int rows, int groups) {
  const int lane = threadIdx.x % 32;
  const int first = blockIdx.x * 32 + threadIdx.x / 32 * kRows;
  const int words = 16 * groups;
  float sums[kRows] = {};
#pragma unroll 2
  for (int w = lane; w < words; w += 32) {
    const Pack pack = load(x + 8 * w);
    const float2 v[4] = {__half22float2(pack.pair[0]), __half22float2(pack.pair[1]), __half22float2(pack.pair[2]),
                         __half22float2(pack.pair[3])};
    const float even[4] = {v[0].x, v[0].y, v[1].x, v[1].y};
    const float odd[4] = {v[2].x, v[2].y, v[3].x, v[3].y};
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const size_t row = min(first + r, rows - 1);
      const unsigned int word = __ldcs(packed + row * words + w);
      const float scale = __half2float(scales[row * groups + w / 16]);
      float part = 0.0f;
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const float2 q = two_weights(word >> 4 * j);
        part = fmaf(q.x, even[j], part);
        part = fmaf(q.y, odd[j], part);
      }
      sums[r] = fmaf(scale, part, sums[r]);
    }
  }
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2)
      sums[r] += __shfl_xor_sync(0xffffffffu, sums[r], offset);
    if (lane == r && first + r < rows) y[first + r] = __float2half_rn(sums[r]);
  }
}
