// One block a token; the largest magnitude by shuffles, then by the first warp.
#include <cuda_fp16.h>
#include <stdint.h>

struct MaxOp {
  __device__ __forceinline__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

template <typename Op>
__device__ __forceinline__ float block_reduce(float value, float initial, Op op) {
  __shared__ float warp_values[32];
  __shared__ float result;
#pragma unroll
  for (int offset = 16; offset > 0; offset >>= 1)
    value = op(value, __shfl_down_sync(0xffffffff, value, offset));
  if (threadIdx.x % 32 == 0) warp_values[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x < 32) {
    value = threadIdx.x < (blockDim.x + 31) / 32 ? warp_values[threadIdx.x] : initial;
#pragma unroll
    for (int offset = 16; offset > 0; offset >>= 1)
      value = op(value, __shfl_down_sync(0xffffffff, value, offset));
    if (threadIdx.x == 0) result = value;
  }
  __syncthreads();
  return result;
}

__device__ __forceinline__ int8_t float_to_int8(float v) {
  return static_cast<int8_t>(max(-128, min(127, __float2int_rn(v))));
}

template <typename scalar_t>
__device__ void dynamic_per_token_quant(const scalar_t* __restrict__ input, int8_t* __restrict__ out,
                                        float* __restrict__ scale, int hidden_size) {
  const int64_t token = blockIdx.x;
  const scalar_t* __restrict__ row = input + token * hidden_size;
  float absmax = 0.0f;
  for (int i = threadIdx.x; i < hidden_size; i += blockDim.x) {
    absmax = fmaxf(absmax, fabsf(static_cast<float>(row[i])));
  }
  absmax = block_reduce(absmax, 0.0f, MaxOp());
  if (threadIdx.x == 0) scale[token] = absmax / 127.0f;
  const float inverse = absmax > 0.0f ? 127.0f / absmax : 0.0f;
  for (int i = threadIdx.x; i < hidden_size; i += blockDim.x) {
    out[token * hidden_size + i] = float_to_int8(static_cast<float>(row[i]) * inverse);
  }
}

__global__ void quantize_int8_token(const __half* __restrict__ x, int8_t* __restrict__ quantized,
                                    float* __restrict__ scales, int tokens, int width) {
  dynamic_per_token_quant<__half>(x, quantized, scales, width);
}
