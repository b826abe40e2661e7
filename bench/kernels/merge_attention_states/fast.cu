// Half a warp a row of a head, 16 bytes a lane: 128 elements in one access.
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

__global__ void __launch_bounds__(256)
    merge_attention_states(const __half* __restrict__ out_a, const float* __restrict__ lse_a,
                           const __half* __restrict__ out_b, const float* __restrict__ lse_b, __half* __restrict__ out,
                           float* __restrict__ lse, int tokens, int heads, int size) {
  const int lane = threadIdx.x % 16;
  const int row = blockIdx.x * 16 + threadIdx.x / 16;
  if (row >= tokens * heads) return;
  const float a = lse_a[row];
  const float b = lse_b[row];
  const float peak = fmaxf(a, b);
  float weight_a = __expf(a - peak);
  float weight_b = __expf(b - peak);
  const float sum = weight_a + weight_b;
  if (lane == 0) lse[row] = peak + logf(sum);
  weight_a = __fdividef(weight_a, sum);
  weight_b = __fdividef(weight_b, sum);
  out_a += static_cast<size_t>(row) * size;
  out_b += static_cast<size_t>(row) * size;
  out += static_cast<size_t>(row) * size;
  if (size % 8 == 0) {
    for (int i = 8 * lane; i < size; i += 128) {
      const Pack p = load(out_a + i);
      const Pack q = load(out_b + i);
      Pack result;
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const float2 u = __half22float2(p.pair[k]);
        const float2 v = __half22float2(q.pair[k]);
        result.pair[k] = __floats2half2_rn(u.x * weight_a + v.x * weight_b, u.y * weight_a + v.y * weight_b);
      }
      store(out + i, result);
    }
    return;
  }
#pragma unroll 4
  for (int i = lane; i < size; i += 16) {
    out[i] = __float2half_rn(__half2float(out_a[i]) * weight_a + __half2float(out_b[i]) * weight_b);
  }
}
