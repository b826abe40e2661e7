// 16 bytes of each half of the row a thread, grid over chunks and tokens; rows that are no multiple of eight go element
// by element.
#include <cuda_fp16.h>

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

__device__ __forceinline__ float gated(float x, float y) {
  return __fdividef(x, 1.0f + __expf(-x)) * y;
}

__global__ void __launch_bounds__(128)
    silu_and_mul(const __half* __restrict__ in, __half* __restrict__ out, int tokens, int d) {
  const size_t token = blockIdx.y;
  const __half* gate = in + token * 2 * d;
  const __half* up = gate + d;
  out += token * d;
  if (d % 8 == 0) {
    const int i = 8 * (blockIdx.x * 128 + threadIdx.x);
    if (i >= d) return;
    const Pack a = load(gate + i);
    const Pack b = load(up + i);
    Pack result;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const float2 x = __half22float2(a.pair[k]);
      const float2 y = __half22float2(b.pair[k]);
      result.pair[k] = __floats2half2_rn(gated(x.x, y.x), gated(x.y, y.y));
    }
    store(out + i, result);
    return;
  }
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    const int i = 1024 * blockIdx.x + 128 * k + threadIdx.x;
    if (i < d) out[i] = __float2half_rn(gated(__half2float(gate[i]), __half2float(up[i])));
  }
}
