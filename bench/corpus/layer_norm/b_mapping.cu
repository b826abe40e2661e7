// Layer normalisation of tokens, one thread a token: three walks along the row with accesses that
// are a row apart in every warp.
__global__ void normalise_tokens(const float* hidden, const float* gamma, const float* beta,
                                 float* normed, float epsilon, int tokens, int width) {
  int token = blockIdx.x * blockDim.x + threadIdx.x;
  if (token < tokens) {
    float sum = 0.0f;
    for (int c = 0; c < width; ++c) {
      sum += hidden[token * width + c];
    }
    float centre = sum / width;
    float spread = 0.0f;
    for (int c = 0; c < width; ++c) {
      spread += (hidden[token * width + c] - centre) * (hidden[token * width + c] - centre);
    }
    float inverse = 1.0f / sqrtf(spread / width + epsilon);
    for (int c = 0; c < width; ++c) {
      float away = hidden[token * width + c] - centre;
      normed[token * width + c] = gamma[c] * (away * inverse) + beta[c];
    }
  }
}
