// Keys and values of each token to its slot of a cache in pages, each with all heads one after the other.
#include <cuda_fp16.h>

__global__ void kv_cache_copy(const __half* keys, const __half* values, __half* key_cache, __half* value_cache,
                              const int* slots, int heads, int size, int page) {
  const int slot = slots[blockIdx.x];
  if (slot < 0) return;
  for (int i = threadIdx.x; i < heads * size; i += blockDim.x) {
    const int to = ((slot / page * heads + i / size) * page + slot % page) * size + i % size;
    key_cache[to] = keys[blockIdx.x * heads * size + i];
    value_cache[to] = values[blockIdx.x * heads * size + i];
  }
}
