// One block a row, four loads of 16 bytes in flight a thread.
#include <cuda_bf16.h>

constexpr int kThreads = 256;

struct alignas(16) Pack {
  __nv_bfloat162 pair[4];
};

// As words: a structure of pairs would be read and written pair by pair.
__device__ __forceinline__ Pack load(const __nv_bfloat16* from) {
  Pack pack;
  *reinterpret_cast<uint4*>(&pack) = *reinterpret_cast<const uint4*>(from);
  return pack;
}

__global__ void __launch_bounds__(kThreads)
    row_sum_bf16(const __nv_bfloat16* __restrict__ x, float* __restrict__ out, int rows, int columns) {
  __shared__ float parts[kThreads / 32];
  x += static_cast<size_t>(blockIdx.x) * columns;
  float sum = 0.0f;
  if (columns % 8 == 0) {
    const int packs = columns / 8;
    for (int base = threadIdx.x; base < packs; base += 4 * kThreads) {
      Pack held[4] = {};
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        if (base + k * kThreads < packs) held[k] = load(x + 8 * (base + k * kThreads));
      }
#pragma unroll
      for (int k = 0; k < 4; ++k) {
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          const float2 v = __bfloat1622float2(held[k].pair[j]);
          sum += v.x + v.y;
        }
      }
    }
  } else {
#pragma unroll 8
    for (int i = threadIdx.x; i < columns; i += kThreads)
      sum += __bfloat162float(x[i]);
  }
  for (int offset = 16; offset > 0; offset /= 2)
    sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    float total = 0.0f;
    for (int i = 0; i < kThreads / 32; ++i)
      total += parts[i];
    out[blockIdx.x] = total;
  }
}
