// Softmax attention of independent queries on one common set of keys and values: one thread a
// query, three passes (maximum, sum, output), scores kept in a row of global memory.
__global__ void attend(const float* query, const float* keys, const float* values, float* scores,
                       float* out, int queries, int length, int dim, float scale) {
  int q = blockIdx.x * blockDim.x + threadIdx.x;
  if (q < queries) {
    float peak = -1e30f;
    for (int t = 0; t < length; t++) {
      float dot = 0.0f;
      for (int d = 0; d < dim; d++) {
        dot += query[q * dim + d] * keys[t * dim + d];
      }
      scores[q * length + t] = dot * scale;
      peak = fmaxf(peak, dot * scale);
    }
    float total = 0.0f;
    for (int t = 0; t < length; t++) {
      scores[q * length + t] = expf(scores[q * length + t] - peak);
      total += scores[q * length + t];
    }
    for (int d = 0; d < dim; d++) {
      float mix = 0.0f;
      for (int t = 0; t < length; t++) {
        mix += scores[q * length + t] * values[t * dim + d];
      }
      out[q * dim + d] = mix / total;
    }
  }
}
