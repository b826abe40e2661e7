// A thread keeps four values of the bias and goes down eight rows; tanh by one exponential.
__device__ __forceinline__ float gelu(float v) {
  const float inner = 1.5957691216f * fmaf(0.044715f * v * v, v, v);
  return v / (1.0f + __expf(-inner));
}

__global__ void __launch_bounds__(128) gelu_bias(const float* __restrict__ x, const float* __restrict__ bias,
                                                 float* __restrict__ out, int rows, int columns) {
  constexpr int kRows = 8;
  const int top = blockIdx.y * kRows;
  if (columns % 4 == 0) {
    const int quads = columns / 4;
    const int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= quads) return;
    const float4 b = reinterpret_cast<const float4*>(bias)[c];
#pragma unroll
    for (int k = 0; k < kRows; ++k) {
      if (top + k < rows) {
        const size_t at = static_cast<size_t>(top + k) * quads + c;
        const float4 v = reinterpret_cast<const float4*>(x)[at];
        reinterpret_cast<float4*>(out)[at] =
            make_float4(gelu(v.x + b.x), gelu(v.y + b.y), gelu(v.z + b.z), gelu(v.w + b.w));
      }
    }
    return;
  }
  for (int j = 0; j < 4; ++j) {
    const int c = blockIdx.x * (4 * blockDim.x) + j * blockDim.x + threadIdx.x;
    if (c >= columns) return;
    const float b = bias[c];
#pragma unroll
    for (int k = 0; k < kRows; ++k) {
      if (top + k < rows) {
        const size_t at = static_cast<size_t>(top + k) * columns + c;
        out[at] = gelu(x[at] + b);
      }
    }
  }
}
