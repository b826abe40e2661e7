// Bias and GELU after a linear layer.
__global__ void gelu_bias(const float* x, const float* bias, float* out, int rows, int columns) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  int r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r < rows && c < columns) {
    float v = x[r * columns + c] + bias[c];
    float inner = 0.79788456f * (v + 0.044715f * v * v * v);
    out[r * columns + c] = 0.5f * v * (1.0f + tanhf(inner));
  }
}
