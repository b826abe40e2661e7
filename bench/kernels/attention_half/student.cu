// Attention with an online softmax, one thread for each query of each head.
#include <cuda_fp16.h>

#define DIM 128

__global__ void attention_half(const __half* query, const __half* keys, const __half* values, __half* out, float scale,
                               int sequence) {
  int q = blockIdx.x * blockDim.x + threadIdx.x;
  int head = blockIdx.y;
  if (q >= sequence) return;
  float accumulator[DIM];
  for (int d = 0; d < DIM; d++) {
    accumulator[d] = 0.0f;
  }
  float max_score = -INFINITY;
  float sum = 0.0f;
  for (int t = 0; t < sequence; t++) {
    float score = 0.0f;
    for (int d = 0; d < DIM; d++) {
      score +=
          __half2float(query[(head * sequence + q) * DIM + d]) * __half2float(keys[(head * sequence + t) * DIM + d]);
    }
    score *= scale;
    float new_max = fmaxf(max_score, score);
    float correction = expf(max_score - new_max);
    float weight = expf(score - new_max);
    sum = sum * correction + weight;
    for (int d = 0; d < DIM; d++) {
      accumulator[d] = accumulator[d] * correction + weight * __half2float(values[(head * sequence + t) * DIM + d]);
    }
    max_score = new_max;
  }
  for (int d = 0; d < DIM; d++) {
    out[(head * sequence + q) * DIM + d] = __float2half(accumulator[d] / sum);
  }
}
