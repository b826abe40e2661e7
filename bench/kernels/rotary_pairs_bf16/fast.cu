// One block a token, four pairs (16 bytes) a thread; where the block is a multiple of a head's packs a thread keeps its
// angles for all heads.
#include <cuda_bf16.h>

constexpr int kThreads = 256;

struct alignas(16) Pack {
  __nv_bfloat162 pair[4];
};

// As words: a structure of pairs would be read and written pair by pair.
__device__ __forceinline__ Pack load(const __nv_bfloat16* from) {
  Pack pack;
  *reinterpret_cast<uint4*>(&pack) = *reinterpret_cast<const uint4*>(from);
  return pack;
}

__device__ __forceinline__ void store(__nv_bfloat16* to, const Pack& pack) {
  *reinterpret_cast<uint4*>(to) = *reinterpret_cast<const uint4*>(&pack);
}

__device__ __forceinline__ __nv_bfloat162 turn(__nv_bfloat162 v, float c, float s) {
  const float2 f = __bfloat1622float2(v);
  return __floats2bfloat162_rn(f.x * c - f.y * s, f.x * s + f.y * c);
}

__device__ __forceinline__ Pack turn(Pack v, float4 c, float4 s) {
  Pack result;
  result.pair[0] = turn(v.pair[0], c.x, s.x);
  result.pair[1] = turn(v.pair[1], c.y, s.y);
  result.pair[2] = turn(v.pair[2], c.z, s.z);
  result.pair[3] = turn(v.pair[3], c.w, s.w);
  return result;
}

__global__ void __launch_bounds__(kThreads)
    rotary_pairs_bf16(__nv_bfloat16* __restrict__ x, const int* __restrict__ positions,
                      const float* __restrict__ cosines, const float* __restrict__ sines, int tokens, int heads,
                      int pairs) {
  const size_t token = blockIdx.x;
  const size_t angles = static_cast<size_t>(positions[token]) * pairs;
  x += token * heads * pairs * 2;
  cosines += angles;
  sines += angles;
  const int packs = pairs / 4;
  if (pairs % 4 == 0 && packs <= kThreads && kThreads % packs == 0) {
    const int mine = threadIdx.x % packs;
    const float4 c = *reinterpret_cast<const float4*>(cosines + 4 * mine);
    const float4 s = *reinterpret_cast<const float4*>(sines + 4 * mine);
#pragma unroll 4
    for (int i = threadIdx.x; i < heads * packs; i += kThreads)
      store(x + 8 * i, turn(load(x + 8 * i), c, s));
    return;
  }
  __nv_bfloat162* at = reinterpret_cast<__nv_bfloat162*>(x);
#pragma unroll 4
  for (int i = threadIdx.x; i < heads * pairs; i += kThreads) {
    const int pair = i % pairs;
    at[i] = turn(at[i], cosines[pair], sines[pair]);
  }
}
