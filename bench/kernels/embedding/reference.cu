// out[t] = table[index[t]].
__global__ void embedding(const float* table, const int* index, float* out, int tokens, int width) {
  for (int i = threadIdx.x; i < tokens * width; i += blockDim.x) out[i] = table[index[i / width] * width + i % width];
}
