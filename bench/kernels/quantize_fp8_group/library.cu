// One block a group, one thread an element; the largest magnitude by shuffles and shared memory.
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <stdint.h>

template <__nv_fp8_interpretation_t kFormat>
struct Fp8;

template <>
struct Fp8<__NV_E4M3> {
  static constexpr float kLargest = 448.0f;
};

template <>
struct Fp8<__NV_E5M2> {
  static constexpr float kLargest = 57344.0f;
};

template <int kWarps>
__device__ __forceinline__ float block_abs_max(float value) {
  __shared__ float warp_max[kWarps];
#pragma unroll
  for (int mask = 16; mask > 0; mask /= 2)
    value = fmaxf(value, __shfl_xor_sync(0xffffffff, value, mask));
  if (threadIdx.x % 32 == 0) warp_max[threadIdx.x / 32] = value;
  __syncthreads();
  float result = warp_max[0];
#pragma unroll
  for (int warp = 1; warp < kWarps; ++warp)
    result = fmaxf(result, warp_max[warp]);
  return result;
}

template <typename scalar_t, __nv_fp8_interpretation_t kFormat, int kGroup>
__device__ __forceinline__ void per_token_group_quant(const scalar_t* __restrict__ input, uint8_t* __restrict__ output,
                                                      float* __restrict__ scales, int groups) {
  const int64_t group = static_cast<int64_t>(blockIdx.y) * groups + blockIdx.x;
  const int64_t index = group * kGroup + threadIdx.x;
  const float value = static_cast<float>(input[index]);
  const float largest = block_abs_max<kGroup / 32>(fmaxf(fabsf(value), 1e-10f));
  const float inverse = Fp8<kFormat>::kLargest / largest;
  output[index] = __nv_cvt_float_to_fp8(value * inverse, __NV_SATFINITE, kFormat);
  if (threadIdx.x == 0) scales[group] = largest / Fp8<kFormat>::kLargest;
}

__global__ void quantize_fp8_group(const __nv_bfloat16* __restrict__ x, uint8_t* __restrict__ quantized,
                                   float* __restrict__ scales, int tokens, int groups) {
  per_token_group_quant<__nv_bfloat16, __NV_E4M3, 128>(x, quantized, scales, groups);
}
