// One block a row, 16 bytes a thread and round; up to 8192 elements stay in registers as floats. Longer rows and such
// as are no multiple of eight are read twice, with an online sum.
#include <cuda_fp16.h>

constexpr int kThreads = 256;
constexpr int kRounds = 4;
constexpr float kLog2e = 1.4426950408889634f;

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

struct Plus {
  __device__ __forceinline__ float operator()(float a, float b) const { return a + b; }
};
struct Maximum {
  __device__ __forceinline__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

template <typename Operation>
__device__ __forceinline__ float block_reduce(float value, float* parts, Operation operation) {
  for (int offset = 16; offset > 0; offset /= 2) {
    value = operation(value, __shfl_xor_sync(0xffffffffu, value, offset));
  }
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
  __syncthreads();
  value = parts[threadIdx.x % (kThreads / 32)];
  for (int offset = kThreads / 64; offset > 0; offset /= 2) {
    value = operation(value, __shfl_xor_sync(0xffffffffu, value, offset));
  }
  return value;
}

__global__ void __launch_bounds__(kThreads)
    softmax_half(const __half* __restrict__ x, __half* __restrict__ out, int rows, int columns) {
  __shared__ float maxima[kThreads / 32];
  __shared__ float sums[kThreads / 32];
  x += static_cast<size_t>(blockIdx.x) * columns;
  out += static_cast<size_t>(blockIdx.x) * columns;
  if (columns % 8 == 0 && columns <= 8 * kRounds * kThreads) {
    Pack held[kRounds];
    float2 v[kRounds][4];
    float peak = -INFINITY;
#pragma unroll
    for (int k = 0; k < kRounds; ++k) {
      const int i = 8 * (threadIdx.x + k * kThreads);
      if (i < columns) held[k] = load(x + i);
    }
#pragma unroll
    for (int k = 0; k < kRounds; ++k) {
      const bool is_there = 8 * (threadIdx.x + k * kThreads) < columns;
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        v[k][j] = is_there ? __half22float2(held[k].pair[j]) : make_float2(-INFINITY, -INFINITY);
        peak = fmaxf(peak, fmaxf(v[k][j].x, v[k][j].y));
      }
    }
    peak = block_reduce(peak, maxima, Maximum());
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < kRounds; ++k) {
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        v[k][j].x = exp2f((v[k][j].x - peak) * kLog2e);
        v[k][j].y = exp2f((v[k][j].y - peak) * kLog2e);
        sum += v[k][j].x + v[k][j].y;
      }
    }
    const float inverse = 1.0f / block_reduce(sum, sums, Plus());
#pragma unroll
    for (int k = 0; k < kRounds; ++k) {
      const int i = 8 * (threadIdx.x + k * kThreads);
      if (i >= columns) continue;
      Pack result;
#pragma unroll
      for (int j = 0; j < 4; ++j)
        result.pair[j] = __floats2half2_rn(v[k][j].x * inverse, v[k][j].y * inverse);
      store(out + i, result);
    }
    return;
  }
  float peak = -INFINITY;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < columns; i += kThreads) {
    const float value = __half2float(x[i]);
    const float higher = fmaxf(peak, value);
    sum = sum * exp2f((peak - higher) * kLog2e) + exp2f((value - higher) * kLog2e);
    peak = higher;
  }
  const float highest = block_reduce(peak, maxima, Maximum());
  if (peak == -INFINITY) sum = 0.0f;
  const float inverse = 1.0f / block_reduce(sum * exp2f((peak - highest) * kLog2e), sums, Plus());
#pragma unroll 4
  for (int i = threadIdx.x; i < columns; i += kThreads) {
    out[i] = __float2half_rn(exp2f((__half2float(x[i]) - highest) * kLog2e) * inverse);
  }
}
