// One block a row; sum and sum of squares are reduced together, as a pair.
#include <cuda_fp16.h>
#include <stdint.h>

__device__ __forceinline__ float2 operator+(float2 a, float2 b) {
  return make_float2(a.x + b.x, a.y + b.y);
}

__device__ __forceinline__ float2 warp_sum(float2 v) {
#pragma unroll
  for (int mask = 16; mask > 0; mask >>= 1) {
    v.x += __shfl_xor_sync(0xffffffff, v.x, mask);
    v.y += __shfl_xor_sync(0xffffffff, v.y, mask);
  }
  return v;
}

template <int kThreads>
__device__ __forceinline__ float2 block_sum(float2 v) {
  __shared__ float2 partial[kThreads / 32];
  v = warp_sum(v);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = v;
  __syncthreads();
  float2 total = make_float2(0.0f, 0.0f);
#pragma unroll
  for (int i = 0; i < kThreads / 32; ++i)
    total = total + partial[i];
  return total;
}

template <typename T, typename Parameter, int kThreads>
__global__ void layer_norm_half(const T* __restrict__ x, const Parameter* __restrict__ weight,
                                const Parameter* __restrict__ bias, T* __restrict__ out, int rows, int columns,
                                float epsilon) {
  const int64_t offset = static_cast<int64_t>(blockIdx.x) * columns;
  float2 sums = make_float2(0.0f, 0.0f);
  for (int i = threadIdx.x; i < columns; i += kThreads) {
    const float v = static_cast<float>(x[offset + i]);
    sums = sums + make_float2(v, v * v);
  }
  sums = block_sum<kThreads>(sums);
  const float mean = sums.x / columns;
  const float rstd = rsqrtf(fmaxf(sums.y / columns - mean * mean, 0.0f) + epsilon);
  for (int i = threadIdx.x; i < columns; i += kThreads) {
    const float v = (static_cast<float>(x[offset + i]) - mean) * rstd;
    out[offset + i] = static_cast<T>(v * static_cast<float>(weight[i]) + static_cast<float>(bias[i]));
  }
}

template __global__ void layer_norm_half<__half, float, 256>(const __half*, const float*, const float*, __half*, int,
                                                             int, float);
