// Two partial attentions as one: outputs weighted by exp of their log-sum-exp; in double precision.
#include <cuda_fp16.h>

__global__ void merge_attention_states(const __half* out_a, const float* lse_a, const __half* out_b, const float* lse_b,
                                       __half* out, float* lse, int tokens, int heads, int size) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= tokens * heads) return;
  const double a = lse_a[row];
  const double b = lse_b[row];
  const double peak = fmax(a, b);
  const double weight_a = exp(a - peak);
  const double weight_b = exp(b - peak);
  for (int i = 0; i < size; ++i) {
    const double value_a = __half2float(out_a[row * size + i]);
    const double value_b = __half2float(out_b[row * size + i]);
    out[row * size + i] = __double2half((weight_a * value_a + weight_b * value_b) / (weight_a + weight_b));
  }
  lse[row] = (float)(peak + log(weight_a + weight_b));
}
