// One block a token: warps add by shuffles, the warps' sums meet in shared memory.
#include <cuda_bf16.h>
#include <stdint.h>

template <typename T>
__device__ __forceinline__ float to_float(T v) {
  return static_cast<float>(v);
}

__device__ __forceinline__ float warp_reduce_sum(float value) {
#pragma unroll
  for (int mask = 16; mask > 0; mask >>= 1)
    value += __shfl_xor_sync(0xffffffff, value, mask, 32);
  return value;
}

__device__ __forceinline__ float block_reduce_sum(float value) {
  __shared__ float partial[32];
  const int lane = threadIdx.x & 31;
  const int warp = threadIdx.x >> 5;
  value = warp_reduce_sum(value);
  if (lane == 0) partial[warp] = value;
  __syncthreads();
  value = threadIdx.x < blockDim.x / 32 ? partial[lane] : 0.0f;
  return warp_reduce_sum(value);
}

template <typename scalar_t>
__device__ void fused_add_rms_norm(const scalar_t* __restrict__ input, scalar_t* __restrict__ residual,
                                   const scalar_t* __restrict__ weight, scalar_t* __restrict__ out, float epsilon,
                                   int hidden_size) {
  __shared__ float s_scale;
  const int64_t offset = static_cast<int64_t>(blockIdx.x) * hidden_size;
  float variance = 0.0f;
  for (int i = threadIdx.x; i < hidden_size; i += blockDim.x) {
    const scalar_t z = static_cast<scalar_t>(to_float(input[offset + i]) + to_float(residual[offset + i]));
    residual[offset + i] = z;
    const float v = to_float(z);
    variance += v * v;
  }
  variance = block_reduce_sum(variance);
  if (threadIdx.x == 0) s_scale = rsqrtf(variance / hidden_size + epsilon);
  __syncthreads();
  for (int i = threadIdx.x; i < hidden_size; i += blockDim.x) {
    const float v = to_float(residual[offset + i]);
    out[offset + i] = static_cast<scalar_t>(v * s_scale * to_float(weight[i]));
  }
}

__global__ void add_rms_norm_bf16(const __nv_bfloat16* __restrict__ x, __nv_bfloat16* __restrict__ residual,
                                  const __nv_bfloat16* __restrict__ weight, __nv_bfloat16* __restrict__ out, int tokens,
                                  int width, float epsilon) {
  fused_add_rms_norm<__nv_bfloat16>(x, residual, weight, out, epsilon, width);
}
