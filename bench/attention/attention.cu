// A thread a query and head, with an online softmax, as one writes attention down.
#include <cuda_fp16.h>

#define DIM 128

__global__ void attention(const __half* query, const __half* keys, const __half* values, __half* out, float scale,
                          int sequence) {
  int q = blockIdx.x * blockDim.x + threadIdx.x;
  if (q >= sequence) return;
  int head = blockIdx.y * sequence * DIM;
  float sums[DIM];
  for (int d = 0; d < DIM; d++) sums[d] = 0.0f;
  float largest = -INFINITY;
  float total = 0.0f;
  for (int t = 0; t < sequence; t++) {
    float score = 0.0f;
    for (int d = 0; d < DIM; d++)
      score += __half2float(query[head + q * DIM + d]) * __half2float(keys[head + t * DIM + d]);
    score *= scale;
    float next = fmaxf(largest, score);
    float shrink = expf(largest - next);
    float weight = expf(score - next);
    total = total * shrink + weight;
    for (int d = 0; d < DIM; d++) sums[d] = sums[d] * shrink + weight * __half2float(values[head + t * DIM + d]);
    largest = next;
  }
  for (int d = 0; d < DIM; d++) out[head + q * DIM + d] = __float2half(sums[d] / total);
}
