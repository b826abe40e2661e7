// Half a warp a group: 16 bytes in and 8 bytes out a lane, the largest magnitude by four shuffles, two conversions at a
// time.
#include <cuda_bf16.h>
#include <cuda_fp8.h>

struct alignas(16) Pack {
  __nv_bfloat162 pair[4];
};

// As words: a structure of pairs would be read and written pair by pair.
__device__ __forceinline__ Pack load(const __nv_bfloat16* from) {
  Pack pack;
  *reinterpret_cast<uint4*>(&pack) = *reinterpret_cast<const uint4*>(from);
  return pack;
}

__device__ __forceinline__ unsigned int two_bytes(float2 v, float inverse) {
  return __nv_cvt_float2_to_fp8x2(make_float2(v.x * inverse, v.y * inverse), __NV_SATFINITE, __NV_E4M3);
}

__global__ void __launch_bounds__(256)
    quantize_fp8_group(const __nv_bfloat16* __restrict__ x, unsigned char* __restrict__ quantized,
                       float* __restrict__ scales, int tokens, int groups) {
  const int lane = threadIdx.x % 16;
  const int group = blockIdx.x * 16 + threadIdx.x / 16;
  const bool is_there = group < tokens * groups;
  const size_t at = static_cast<size_t>(group) * 128 + 8 * lane;
  float2 v[4] = {};
  if (is_there) {
    const Pack pack = load(x + at);
#pragma unroll
    for (int k = 0; k < 4; ++k)
      v[k] = __bfloat1622float2(pack.pair[k]);
  }
  float largest = 1.0e-10f;
#pragma unroll
  for (int k = 0; k < 4; ++k)
    largest = fmaxf(largest, fmaxf(fabsf(v[k].x), fabsf(v[k].y)));
#pragma unroll
  for (int offset = 8; offset > 0; offset /= 2) {
    largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, offset));
  }
  if (!is_there) return;
  const float inverse = 448.0f / largest;
  uint2 bytes;
  bytes.x = two_bytes(v[0], inverse) | two_bytes(v[1], inverse) << 16;
  bytes.y = two_bytes(v[2], inverse) | two_bytes(v[3], inverse) << 16;
  *reinterpret_cast<uint2*>(quantized + at) = bytes;
  if (lane == 0) scales[group] = largest / 448.0f;
}
