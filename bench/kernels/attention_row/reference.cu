// softmax(scale q K^T) V for each query of width 64, in double precision.
__global__ void attention_row(const float* query, const float* keys, const float* values, float* out, float scale,
                              int queries, int length) {
  int q = blockIdx.x * blockDim.x + threadIdx.x;
  if (q >= queries) return;
  double mix[64];
  for (int d = 0; d < 64; ++d) mix[d] = 0.0;
  double peak = -INFINITY;
  double sum = 0.0;
  for (int t = 0; t < length; ++t) {
    double score = 0.0;
    for (int d = 0; d < 64; ++d) score += (double)query[q * 64 + d] * (double)keys[t * 64 + d];
    score *= scale;
    double higher = fmax(peak, score);
    double shrink = exp(peak - higher);
    double weight = exp(score - higher);
    for (int d = 0; d < 64; ++d) mix[d] = mix[d] * shrink + weight * (double)values[t * 64 + d];
    sum = sum * shrink + weight;
    peak = higher;
  }
  for (int d = 0; d < 64; ++d) out[q * 64 + d] = (float)(mix[d] / sum);
}
