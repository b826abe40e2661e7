// The k largest logits of a token, of equal ones the first, -1 where none is left; softmax over all experts, of the
// chosen ones made to add up to one; in double precision.
__global__ void top_k_gating(const float* logits, int* ids, float* weights, int tokens, int experts, int k) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= tokens) return;
  const float* row = logits + t * experts;
  double highest = -INFINITY;
  for (int e = 0; e < experts; ++e)
    highest = fmax(highest, (double)row[e]);
  double total = 0.0;
  for (int pass = 0; pass < 2; ++pass) {
    int last = -1;
    for (int j = 0; j < k; ++j) {
      int best = -1;
      for (int e = 0; e < experts; ++e) {
        const bool is_left = j == 0 || (last >= 0 && (row[e] < row[last] || (row[e] == row[last] && e > last)));
        if (is_left && row[e] > (best < 0 ? -INFINITY : row[best])) best = e;
      }
      last = best;
      const double weight = best < 0 ? 0.0 : exp(row[best] - highest);
      if (pass == 0) total += weight;
      ids[t * k + j] = best;
      weights[t * k + j] = (float)(weight / total);
    }
  }
}
