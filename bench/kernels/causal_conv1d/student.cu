// Depthwise causal convolution of width 4 with silu, one thread for each output.
#include <cuda_bf16.h>

#define WIDTH 4

__global__ void causal_conv1d(const __nv_bfloat16* x, const float* weight, const float* bias, __nv_bfloat16* out,
                              int channels, int length) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  int channel = blockIdx.y;
  int batch = blockIdx.z;
  if (t >= length) return;
  int row = (batch * channels + channel) * length;
  float sum = bias[channel];
  for (int k = 0; k < WIDTH; k++) {
    int position = t - (WIDTH - 1) + k;
    if (position >= 0) {
      sum += weight[channel * WIDTH + k] * __bfloat162float(x[row + position]);
    }
  }
  out[row + t] = __float2bfloat16(sum / (1.0f + expf(-sum)));
}
