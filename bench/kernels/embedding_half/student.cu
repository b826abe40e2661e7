// Looks up the row of each token, one thread for each token.
#include <cuda_fp16.h>

__global__ void embedding_half(const __half* table, const int* index, __half* out, int tokens, int width) {
  int token = blockIdx.x * blockDim.x + threadIdx.x;
  if (token < tokens) {
    for (int i = 0; i < width; i++) {
      out[token * width + i] = table[index[token] * width + i];
    }
  }
}
