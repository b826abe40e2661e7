// One block a channel of a sequence, eight results a thread from 16 bytes and the 8 bytes in front of them.
#include <cuda_bf16.h>

constexpr int kThreads = 128;

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

struct alignas(8) Before {
  __nv_bfloat162 pair[2];
};

__device__ __forceinline__ float silu(float v) {
  return __fdividef(v, 1.0f + __expf(-v));
}

__global__ void __launch_bounds__(kThreads)
    causal_conv1d(const __nv_bfloat16* __restrict__ x, const float* __restrict__ weight, const float* __restrict__ bias,
                  __nv_bfloat16* __restrict__ out, int channels, int length) {
  const int channel = blockIdx.x;
  const size_t row = (static_cast<size_t>(blockIdx.y) * channels + channel) * length;
  x += row;
  out += row;
  const float4 w = *reinterpret_cast<const float4*>(weight + 4 * channel);
  const float b = bias[channel];
  if (length % 8 == 0) {
#pragma unroll 2
    for (int t = 8 * threadIdx.x; t < length; t += 8 * kThreads) {
      float v[11];
      const Pack pack = load(x + t);
      Before before = {};
      if (t > 0) *reinterpret_cast<uint2*>(&before) = *reinterpret_cast<const uint2*>(x + t - 4);
      v[0] = __high2float(before.pair[0]);
      v[1] = __low2float(before.pair[1]);
      v[2] = __high2float(before.pair[1]);
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        v[3 + 2 * k] = __low2float(pack.pair[k]);
        v[4 + 2 * k] = __high2float(pack.pair[k]);
      }
      float result[8];
#pragma unroll
      for (int k = 0; k < 8; ++k)
        result[k] = silu(b + w.x * v[k] + w.y * v[k + 1] + w.z * v[k + 2] + w.w * v[k + 3]);
      Pack packed;
#pragma unroll
      for (int k = 0; k < 4; ++k)
        packed.pair[k] = __floats2bfloat162_rn(result[2 * k], result[2 * k + 1]);
      store(out + t, packed);
    }
    return;
  }
  const float taps[4] = {w.x, w.y, w.z, w.w};
#pragma unroll 2
  for (int t = threadIdx.x; t < length; t += kThreads) {
    float sum = b;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      if (t + k >= 3) sum += taps[k] * __bfloat162float(x[t + k - 3]);
    }
    out[t] = __float2bfloat16_rn(silu(sum));
  }
}
