// The k largest logits of a token, of equal ones the first; softmax over all experts, of the chosen ones made to add up to
// one; in double precision.
__global__ void top_k_gating(const float* logits, int* ids, float* weights, int tokens, int experts, int k) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= tokens) return;
  const float* row = logits + t * experts;
  double total = 0.0;
  for (int j = 0; j < k; ++j) {
    int best = -1;
    for (int e = 0; e < experts; ++e) {
      bool taken = false;
      for (int i = 0; i < j; ++i) taken = taken || ids[t * k + i] == e;
      if (!taken && (best < 0 || row[e] > row[best])) best = e;
    }
    ids[t * k + j] = best;
    total += exp((double)row[best] - row[ids[t * k]]);
  }
  for (int j = 0; j < k; ++j) weights[t * k + j] = (float)(exp((double)row[ids[t * k + j]] - row[ids[t * k]]) / total);
}
