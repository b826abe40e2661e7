// Rotary position embedding: a thread rotates one head of one token
__global__ void rotary_embedding(const float* x, const float* cosines, const float* sines, float* out, int tokens,
                                 int heads, int half) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < tokens * heads) {
    int token = i / heads;
    for (int d = 0; d < half; d++) {
      float c = cosines[token * half + d];
      float s = sines[token * half + d];
      float first = x[i * 2 * half + d];
      float second = x[i * 2 * half + half + d];
      out[i * 2 * half + d] = first * c - second * s;
      out[i * 2 * half + half + d] = second * c + first * s;
    }
  }
}
