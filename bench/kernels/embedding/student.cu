// Embedding lookup, each thread copies the row of one token
__global__ void embedding(const float* table, const int* index, float* out, int tokens, int width) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t < tokens) {
    int word = index[t];
    for (int i = 0; i < width; i++) {
      out[t * width + i] = table[word * width + i];
    }
  }
}
