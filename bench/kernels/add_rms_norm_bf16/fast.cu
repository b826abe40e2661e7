// One block a row, 16 bytes a thread and round, up to 8192 elements in registers between the passes.
#include <cuda_bf16.h>

constexpr int kThreads = 256;
constexpr int kRounds = 4;

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

__device__ __forceinline__ float block_sum(float value, float* parts) {
  for (int offset = 16; offset > 0; offset /= 2)
    value += __shfl_xor_sync(0xffffffffu, value, offset);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
  __syncthreads();
  value = parts[threadIdx.x % (kThreads / 32)];
  for (int offset = kThreads / 64; offset > 0; offset /= 2)
    value += __shfl_xor_sync(0xffffffffu, value, offset);
  return value;
}

__global__ void __launch_bounds__(kThreads)
    add_rms_norm_bf16(const __nv_bfloat16* __restrict__ x, __nv_bfloat16* __restrict__ residual,
                      const __nv_bfloat16* __restrict__ weight, __nv_bfloat16* __restrict__ out, int tokens, int width,
                      float epsilon) {
  __shared__ float parts[kThreads / 32];
  x += static_cast<size_t>(blockIdx.x) * width;
  residual += static_cast<size_t>(blockIdx.x) * width;
  out += static_cast<size_t>(blockIdx.x) * width;
  float squares = 0.0f;
  if (width % 8 == 0 && width <= 8 * kRounds * kThreads) {
    Pack held[kRounds];
#pragma unroll
    for (int k = 0; k < kRounds; ++k) {
      const int i = 8 * (threadIdx.x + k * kThreads);
      if (i < width) {
        const Pack a = load(x + i);
        const Pack b = load(residual + i);
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          const float2 p = __bfloat1622float2(a.pair[j]);
          const float2 q = __bfloat1622float2(b.pair[j]);
          held[k].pair[j] = __floats2bfloat162_rn(p.x + q.x, p.y + q.y);
          const float2 v = __bfloat1622float2(held[k].pair[j]);
          squares += v.x * v.x + v.y * v.y;
        }
        store(residual + i, held[k]);
      }
    }
    const float scale = rsqrtf(block_sum(squares, parts) / width + epsilon);
#pragma unroll
    for (int k = 0; k < kRounds; ++k) {
      const int i = 8 * (threadIdx.x + k * kThreads);
      if (i < width) {
        const Pack w = load(weight + i);
        Pack result;
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          const float2 v = __bfloat1622float2(held[k].pair[j]);
          const float2 f = __bfloat1622float2(w.pair[j]);
          result.pair[j] = __floats2bfloat162_rn(v.x * scale * f.x, v.y * scale * f.y);
        }
        store(out + i, result);
      }
    }
    return;
  }
#pragma unroll 4
  for (int i = threadIdx.x; i < width; i += kThreads) {
    const __nv_bfloat16 sum = __float2bfloat16_rn(__bfloat162float(x[i]) + __bfloat162float(residual[i]));
    residual[i] = sum;
    squares += __bfloat162float(sum) * __bfloat162float(sum);
  }
  const float scale = rsqrtf(block_sum(squares, parts) / width + epsilon);
#pragma unroll 4
  for (int i = threadIdx.x; i < width; i += kThreads) {
    out[i] = __float2bfloat16_rn(__bfloat162float(residual[i]) * scale * __bfloat162float(weight[i]));
  }
}
