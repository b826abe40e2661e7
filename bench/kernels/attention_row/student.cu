// Attention for one head: each thread computes the output of one query.
#define HEAD_DIM 64

__global__ void attention_row(const float* query, const float* keys, const float* values, float* out, float scale,
                              int queries, int length) {
  int q = blockIdx.x * blockDim.x + threadIdx.x;
  if (q < queries) {
    float maximum = -INFINITY;
    for (int t = 0; t < length; t++) {
      float score = 0.0f;
      for (int d = 0; d < HEAD_DIM; d++) {
        score += query[q * HEAD_DIM + d] * keys[t * HEAD_DIM + d];
      }
      maximum = fmaxf(maximum, score * scale);
    }
    float sum = 0.0f;
    for (int d = 0; d < HEAD_DIM; d++) {
      out[q * HEAD_DIM + d] = 0.0f;
    }
    for (int t = 0; t < length; t++) {
      float score = 0.0f;
      for (int d = 0; d < HEAD_DIM; d++) {
        score += query[q * HEAD_DIM + d] * keys[t * HEAD_DIM + d];
      }
      float weight = expf(score * scale - maximum);
      sum += weight;
      for (int d = 0; d < HEAD_DIM; d++) {
        out[q * HEAD_DIM + d] += weight * values[t * HEAD_DIM + d];
      }
    }
    for (int d = 0; d < HEAD_DIM; d++) {
      out[q * HEAD_DIM + d] /= sum;
    }
  }
}
