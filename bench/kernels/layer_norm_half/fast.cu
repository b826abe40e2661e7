// One block a row, 16 bytes a thread and round, up to 8192 elements in registers; mean first, then the sum of squared
// differences, both without reading again.
#include <cuda_fp16.h>

constexpr int kThreads = 256;
constexpr int kRounds = 4;

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

__device__ __forceinline__ float2 affine(float2 v, float mean, float scale, float weight_x, float weight_y,
                                         float bias_x, float bias_y) {
  return make_float2(fmaf((v.x - mean) * scale, weight_x, bias_x), fmaf((v.y - mean) * scale, weight_y, bias_y));
}

__global__ void __launch_bounds__(kThreads)
    layer_norm_half(const __half* __restrict__ x, const float* __restrict__ weight, const float* __restrict__ bias,
                    __half* __restrict__ out, int rows, int columns, float epsilon) {
  __shared__ float sums[kThreads / 32];
  __shared__ float squares[kThreads / 32];
  x += static_cast<size_t>(blockIdx.x) * columns;
  out += static_cast<size_t>(blockIdx.x) * columns;
  const float share = 1.0f / columns;
  if (columns % 8 == 0 && columns <= 8 * kRounds * kThreads) {
    Pack held[kRounds];
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < kRounds; ++k) {
      const int i = 8 * (threadIdx.x + k * kThreads);
      if (i < columns) {
        held[k] = load(x + i);
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          const float2 v = __half22float2(held[k].pair[j]);
          sum += v.x + v.y;
        }
      }
    }
    const float mean = block_sum(sum, sums) * share;
    float square = 0.0f;
#pragma unroll
    for (int k = 0; k < kRounds; ++k) {
      if (8 * (threadIdx.x + k * kThreads) < columns) {
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          const float2 v = __half22float2(held[k].pair[j]);
          square += (v.x - mean) * (v.x - mean) + (v.y - mean) * (v.y - mean);
        }
      }
    }
    const float scale = rsqrtf(block_sum(square, squares) * share + epsilon);
#pragma unroll
    for (int k = 0; k < kRounds; ++k) {
      const int i = 8 * (threadIdx.x + k * kThreads);
      if (i < columns) {
        Pack result;
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          const float4 w = *reinterpret_cast<const float4*>(weight + i + 4 * h);
          const float4 b = *reinterpret_cast<const float4*>(bias + i + 4 * h);
          const float2 first = affine(__half22float2(held[k].pair[2 * h]), mean, scale, w.x, w.y, b.x, b.y);
          const float2 second = affine(__half22float2(held[k].pair[2 * h + 1]), mean, scale, w.z, w.w, b.z, b.w);
          result.pair[2 * h] = __floats2half2_rn(first.x, first.y);
          result.pair[2 * h + 1] = __floats2half2_rn(second.x, second.y);
        }
        store(out + i, result);
      }
    }
    return;
  }
  float sum = 0.0f;
#pragma unroll 4
  for (int i = threadIdx.x; i < columns; i += kThreads)
    sum += __half2float(x[i]);
  const float mean = block_sum(sum, sums) * share;
  float square = 0.0f;
#pragma unroll 4
  for (int i = threadIdx.x; i < columns; i += kThreads) {
    const float d = __half2float(x[i]) - mean;
    square += d * d;
  }
  const float scale = rsqrtf(block_sum(square, squares) * share + epsilon);
#pragma unroll 4
  for (int i = threadIdx.x; i < columns; i += kThreads) {
    out[i] = __float2half_rn(fmaf((__half2float(x[i]) - mean) * scale, weight[i], bias[i]));
  }
}
