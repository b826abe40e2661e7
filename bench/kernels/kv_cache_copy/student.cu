// Writes new keys and values into the paged cache, one thread for each element.
#include <cuda_fp16.h>

__global__ void kv_cache_copy(const __half* keys, const __half* values, __half* key_cache, __half* value_cache,
                              const int* slots, int heads, int size, int page) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int head = blockIdx.y;
  int token = blockIdx.z;
  if (i >= size) return;
  int slot = slots[token];
  if (slot < 0) return;
  int block = slot / page;
  int offset = slot % page;
  int source = (token * heads + head) * size + i;
  int target = ((block * heads + head) * page + offset) * size + i;
  key_cache[target] = keys[source];
  value_cache[target] = values[source];
}
