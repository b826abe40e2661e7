// out = softmax(scale * query keys^T) values for each head and query, in double precision.
#include <cuda_fp16.h>

__global__ void attention_half(const __half* query, const __half* keys, const __half* values, __half* out, float scale,
                               int sequence) {
  const int q = blockIdx.x * blockDim.x + threadIdx.x;
  if (q >= sequence) return;
  const int head = blockIdx.y * sequence * 128;
  double peak = -INFINITY;
  double sum = 0.0;
  double mix[128] = {};
  for (int pass = 0; pass < 2; ++pass) {
    for (int t = 0; t < sequence; ++t) {
      double score = 0.0;
      for (int d = 0; d < 128; ++d) {
        score += (double)__half2float(query[head + q * 128 + d]) * (double)__half2float(keys[head + t * 128 + d]);
      }
      score *= scale;
      if (pass == 0) {
        peak = fmax(peak, score);
      } else {
        const double weight = exp(score - peak);
        sum += weight;
        for (int d = 0; d < 128; ++d)
          mix[d] += weight * (double)__half2float(values[head + t * 128 + d]);
      }
    }
  }
  for (int d = 0; d < 128; ++d)
    out[head + q * 128 + d] = __double2half(mix[d] / sum);
}
