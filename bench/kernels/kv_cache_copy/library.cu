// One block a token; where a token's elements go is the matter of a view of the cache.
#include <cuda_fp16.h>
#include <stdint.h>

template <typename cache_t>
struct PagedCache {
  cache_t* __restrict__ data;
  int num_heads;
  int block_size;
  int head_size;
  __device__ __forceinline__ cache_t& at(int64_t slot, int head, int i) const {
    const int64_t block = slot / block_size;
    const int64_t offset = slot % block_size;
    return data[((block * num_heads + head) * block_size + offset) * head_size + i];
  }
};

template <typename scalar_t, typename cache_t>
__device__ __forceinline__ void reshape_and_cache(const scalar_t* __restrict__ key, const scalar_t* __restrict__ value,
                                                  const PagedCache<cache_t>& key_cache,
                                                  const PagedCache<cache_t>& value_cache,
                                                  const int* __restrict__ slot_mapping) {
  const int64_t token = blockIdx.x;
  const int64_t slot = slot_mapping[token];
  if (slot < 0) return;  // padding
  const int n = key_cache.num_heads * key_cache.head_size;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    const int head = i / key_cache.head_size;
    const int offset = i % key_cache.head_size;
    key_cache.at(slot, head, offset) = static_cast<cache_t>(key[token * n + i]);
    value_cache.at(slot, head, offset) = static_cast<cache_t>(value[token * n + i]);
  }
}

__global__ void kv_cache_copy(const __half* __restrict__ keys, const __half* __restrict__ values,
                              __half* __restrict__ key_cache, __half* __restrict__ value_cache,
                              const int* __restrict__ slots, int heads, int size, int page) {
  reshape_and_cache<__half, __half>(keys, values, PagedCache<__half>{key_cache, heads, page, size},
                                    PagedCache<__half>{value_cache, heads, page, size}, slots);
}
