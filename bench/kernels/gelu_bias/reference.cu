// The tanh form of GELU of x + bias, in double precision.
__global__ void gelu_bias(const float* x, const float* bias, float* out, int rows, int columns) {
  for (int i = threadIdx.x; i < rows * columns; i += blockDim.x) {
    double v = (double)x[i] + (double)bias[i % columns];
    out[i] = (float)(0.5 * v * (1.0 + tanh(0.7978845608028654 * (v + 0.044715 * v * v * v))));
  }
}
