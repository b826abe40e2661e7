// One block a token: 16 elements a thread and round (two reads and one write of 16 bytes) stay in registers, magnitudes
// are compared two at a time in half precision, which loses nothing.
#include <cuda_fp16.h>

constexpr int kThreads = 256;
constexpr int kRounds = 2;

struct alignas(16) Pack {
  __half2 pair[4];
};

// As words: a structure of pairs would be read and written pair by pair.
__device__ __forceinline__ Pack load(const __half* from) {
  Pack pack;
  *reinterpret_cast<uint4*>(&pack) = *reinterpret_cast<const uint4*>(from);
  return pack;
}

__device__ __forceinline__ float block_maximum(float value, float* parts) {
  for (int offset = 16; offset > 0; offset /= 2)
    value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, offset));
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
  __syncthreads();
  value = parts[threadIdx.x % (kThreads / 32)];
  for (int offset = kThreads / 64; offset > 0; offset /= 2) {
    value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, offset));
  }
  return value;
}

__device__ __forceinline__ unsigned int four_bytes(__half2 low, __half2 high, float inverse) {
  const float2 a = __half22float2(low);
  const float2 b = __half22float2(high);
  const unsigned int x = __float2int_rn(a.x * inverse) & 255;
  const unsigned int y = __float2int_rn(a.y * inverse) & 255;
  const unsigned int z = __float2int_rn(b.x * inverse) & 255;
  const unsigned int w = __float2int_rn(b.y * inverse);
  return x | y << 8 | z << 16 | w << 24;
}

__global__ void __launch_bounds__(kThreads)
    quantize_int8_token(const __half* __restrict__ x, signed char* __restrict__ quantized, float* __restrict__ scales,
                        int tokens, int width) {
  __shared__ float parts[kThreads / 32];
  x += static_cast<size_t>(blockIdx.x) * width;
  quantized += static_cast<size_t>(blockIdx.x) * width;
  if (width % 16 == 0 && width <= 16 * kRounds * kThreads) {
    Pack held[kRounds][2];
    __half2 most = __float2half2_rn(0.0f);
#pragma unroll
    for (int k = 0; k < kRounds; ++k) {
      const int i = 16 * (threadIdx.x + k * kThreads);
      if (i < width) {
        held[k][0] = load(x + i);
        held[k][1] = load(x + i + 8);
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          most = __hmax2(most, __hmax2(__habs2(held[k][0].pair[j]), __habs2(held[k][1].pair[j])));
        }
      }
    }
    const float largest = block_maximum(fmaxf(__low2float(most), __high2float(most)), parts);
    if (threadIdx.x == 0) scales[blockIdx.x] = largest / 127.0f;
    const float inverse = largest > 0.0f ? 127.0f / largest : 0.0f;
#pragma unroll
    for (int k = 0; k < kRounds; ++k) {
      const int i = 16 * (threadIdx.x + k * kThreads);
      if (i < width) {
        uint4 bytes;
        bytes.x = four_bytes(held[k][0].pair[0], held[k][0].pair[1], inverse);
        bytes.y = four_bytes(held[k][0].pair[2], held[k][0].pair[3], inverse);
        bytes.z = four_bytes(held[k][1].pair[0], held[k][1].pair[1], inverse);
        bytes.w = four_bytes(held[k][1].pair[2], held[k][1].pair[3], inverse);
        *reinterpret_cast<uint4*>(quantized + i) = bytes;
      }
    }
    return;
  }
  float largest = 0.0f;
#pragma unroll 4
  for (int i = threadIdx.x; i < width; i += kThreads)
    largest = fmaxf(largest, fabsf(__half2float(x[i])));
  largest = block_maximum(largest, parts);
  if (threadIdx.x == 0) scales[blockIdx.x] = largest / 127.0f;
  const float inverse = largest > 0.0f ? 127.0f / largest : 0.0f;
#pragma unroll 4
  for (int i = threadIdx.x; i < width; i += kThreads) {
    quantized[i] = static_cast<signed char>(__float2int_rn(__half2float(x[i]) * inverse));
  }
}
