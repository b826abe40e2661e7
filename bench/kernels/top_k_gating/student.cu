// Chooses the k best experts for each token and their weights, one thread for each token.
__global__ void top_k_gating(const float* logits, int* ids, float* weights, int tokens, int experts, int k) {
  int token = blockIdx.x * blockDim.x + threadIdx.x;
  if (token >= tokens) return;
  float max_logit = logits[token * experts];
  for (int e = 1; e < experts; e++) {
    max_logit = fmaxf(max_logit, logits[token * experts + e]);
  }
  float sum = 0.0f;
  for (int e = 0; e < experts; e++) {
    sum += expf(logits[token * experts + e] - max_logit);
  }
  float chosen_sum = 0.0f;
  for (int j = 0; j < k; j++) {
    int best = -1;
    float best_logit = -INFINITY;
    for (int e = 0; e < experts; e++) {
      float logit = logits[token * experts + e];
      bool used = false;
      for (int i = 0; i < j; i++) {
        if (ids[token * k + i] == e) used = true;
      }
      if (!used && logit > best_logit) {
        best = e;
        best_logit = logit;
      }
    }
    ids[token * k + j] = best;
    weights[token * k + j] = expf(best_logit - max_logit) / sum;
    chosen_sum += weights[token * k + j];
  }
  for (int j = 0; j < k; j++) {
    weights[token * k + j] /= chosen_sum;
  }
}
