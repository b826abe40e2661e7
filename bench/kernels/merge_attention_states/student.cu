// Merges two partial attentions, one thread for each element of the output.
#include <cuda_fp16.h>

__global__ void merge_attention_states(const __half* out_a, const float* lse_a, const __half* out_b, const float* lse_b,
                                       __half* out, float* lse, int tokens, int heads, int size) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int head = blockIdx.y;
  int token = blockIdx.z;
  if (i >= size) return;
  int row = token * heads + head;
  float max_lse = fmaxf(lse_a[row], lse_b[row]);
  float weight_a = expf(lse_a[row] - max_lse);
  float weight_b = expf(lse_b[row] - max_lse);
  float sum = weight_a + weight_b;
  float a = __half2float(out_a[row * size + i]);
  float b = __half2float(out_b[row * size + i]);
  out[row * size + i] = __float2half(a * weight_a / sum + b * weight_b / sum);
  if (i == 0) {
    lse[row] = max_lse + logf(sum);
  }
}
