// out = gelu(x + bias), with the tangent, in double precision.
#include <cuda_fp16.h>

__global__ void gelu_bias_half(const __half* x, const __half* bias, __half* out, int rows, int columns) {
  const int r = blockIdx.x;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) {
    const double v = (double)__half2float(x[r * columns + c]) + (double)__half2float(bias[c]);
    const double inner = 0.7978845608028654 * (v + 0.044715 * v * v * v);
    out[r * columns + c] = __double2half(0.5 * v * (1.0 + tanh(inner)));
  }
}
