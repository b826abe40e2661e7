// A warp a token, 16 bytes a lane, four loads in flight.
#include <cuda_fp16.h>

__global__ void __launch_bounds__(256) embedding_half(const __half* __restrict__ table, const int* __restrict__ index,
                                                      __half* __restrict__ out, int tokens, int width) {
  const int lane = threadIdx.x % 32;
  const int token = blockIdx.x * 8 + threadIdx.x / 32;
  if (token >= tokens) return;
  const __half* from = table + static_cast<size_t>(index[token]) * width;
  __half* to = out + static_cast<size_t>(token) * width;
  if (width % 8 == 0) {
    const uint4* source = reinterpret_cast<const uint4*>(from);
    uint4* target = reinterpret_cast<uint4*>(to);
    const int packs = width / 8;
    for (int base = lane; base < packs; base += 128) {
      uint4 held[4];
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        if (base + 32 * k < packs) held[k] = source[base + 32 * k];
      }
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        if (base + 32 * k < packs) target[base + 32 * k] = held[k];
      }
    }
    return;
  }
#pragma unroll 8
  for (int i = lane; i < width; i += 32)
    to[i] = from[i];
}
