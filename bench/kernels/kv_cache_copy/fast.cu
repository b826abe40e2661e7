// One block a token, 16 bytes of keys and of values a thread.
#include <cuda_fp16.h>

__global__ void __launch_bounds__(128)
    kv_cache_copy(const __half* __restrict__ keys, const __half* __restrict__ values, __half* __restrict__ key_cache,
                  __half* __restrict__ value_cache, const int* __restrict__ slots, int heads, int size, int page) {
  const int slot = slots[blockIdx.x];
  if (slot < 0) return;
  const size_t from = static_cast<size_t>(blockIdx.x) * heads * size;
  const size_t to = (static_cast<size_t>(slot / page) * heads * page + slot % page) * size;
  if (size % 8 == 0) {
    const int packs = size / 8;
    const uint4* key = reinterpret_cast<const uint4*>(keys + from);
    const uint4* value = reinterpret_cast<const uint4*>(values + from);
    uint4* key_target = reinterpret_cast<uint4*>(key_cache + to);
    uint4* value_target = reinterpret_cast<uint4*>(value_cache + to);
    for (int i = threadIdx.x; i < heads * packs; i += 128) {
      const int target = i / packs * page * packs + i % packs;
      const uint4 a = __ldcs(key + i);
      const uint4 b = __ldcs(value + i);
      key_target[target] = a;
      value_target[target] = b;
    }
    return;
  }
#pragma unroll 4
  for (int i = threadIdx.x; i < heads * size; i += 128) {
    const size_t target = to + static_cast<size_t>(i / size) * page * size + i % size;
    key_cache[target] = keys[from + i];
    value_cache[target] = values[from + i];
  }
}
