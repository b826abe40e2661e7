// Bias and GELU by a flat index; the column comes from a division with remainder that every thread
// pays for one element.
__global__ void bias_gelu_flat(const float* values, const float* bias, float* out, unsigned total,
                               unsigned width) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= total * width) return;
  float shifted = values[i] + bias[i % width];
  float bent = tanhf(0.7978845608f * (shifted + 0.044715f * shifted * shifted * shifted));
  out[i] = 0.5f * shifted * (1.0f + bent);
}
