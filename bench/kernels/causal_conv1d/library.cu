// One block a channel of a sequence: weights in registers, width, activation and element are template parameters.
#include <cuda_bf16.h>
#include <stdint.h>

struct Silu {
  __device__ static __forceinline__ float apply(float v) { return v / (1.0f + expf(-v)); }
};

template <typename input_t, int kWidth, typename Activation>
__device__ __forceinline__ void conv1d_channel(const input_t* __restrict__ x, const float* __restrict__ weight,
                                               float bias, input_t* __restrict__ out, int seqlen) {
  float weights[kWidth];
#pragma unroll
  for (int w = 0; w < kWidth; ++w)
    weights[w] = weight[w];
  for (int t = threadIdx.x; t < seqlen; t += blockDim.x) {
    float value = bias;
#pragma unroll
    for (int w = 0; w < kWidth; ++w) {
      const int from = t + w - (kWidth - 1);
      value += weights[w] * (from >= 0 ? static_cast<float>(x[from]) : 0.0f);
    }
    out[t] = static_cast<input_t>(Activation::apply(value));
  }
}

__global__ void causal_conv1d(const __nv_bfloat16* __restrict__ x, const float* __restrict__ weight,
                              const float* __restrict__ bias, __nv_bfloat16* __restrict__ out, int channels,
                              int length) {
  const int channel = blockIdx.x;
  const int64_t row = (static_cast<int64_t>(blockIdx.y) * channels + channel) * length;
  conv1d_channel<__nv_bfloat16, 4, Silu>(x + row, weight + channel * 4, bias[channel], out + row, length);
}
