// Gathers rows, one block a token; element and index are template parameters.
#include <cuda_fp16.h>
#include <stdint.h>

template <typename scalar_t, typename index_t>
struct Table {
  const scalar_t* __restrict__ data;
  int width;
  __device__ __forceinline__ const scalar_t* operator[](index_t word) const {
    return data + static_cast<int64_t>(word) * width;
  }
};

template <typename scalar_t, typename index_t>
__global__ void embedding_half(const scalar_t* __restrict__ table, const index_t* __restrict__ index,
                               scalar_t* __restrict__ out, int tokens, int width) {
  const Table<scalar_t, index_t> rows{table, width};
  for (int64_t token = blockIdx.x; token < tokens; token += gridDim.x) {
    const scalar_t* __restrict__ row = rows[index[token]];
    for (int i = threadIdx.x; i < width; i += blockDim.x)
      out[token * width + i] = row[i];
  }
}

template __global__ void embedding_half<__half, int>(const __half*, const int*, __half*, int, int);
