// out[t] = table[index[t]].
#include <cuda_fp16.h>

__global__ void embedding_half(const __half* table, const int* index, __half* out, int tokens, int width) {
  const int t = blockIdx.x;
  for (int i = threadIdx.x; i < width; i += blockDim.x)
    out[t * width + i] = table[index[t] * width + i];
}
