// 32 x 16 pixels and 16 output channels a block, two rows of all 16 a thread; four input channels at a time in
// shared memory, weights with the output channel last.
__global__ void __launch_bounds__(256) convolution_3x3(const float* __restrict__ in, const float* __restrict__ weights,
                                                       float* __restrict__ out, int inputs, int outputs, int height,
                                                       int width) {
  constexpr int kChannels = 4;
  constexpr int kOutputs = 16;
  __shared__ float tile[kChannels][18][34];
  __shared__ __align__(16) float taps[kChannels][9][kOutputs];
  const int left = blockIdx.x * 32;
  const int top = blockIdx.y * 16;
  const int first = blockIdx.z * kOutputs;
  const int thread = threadIdx.y * 32 + threadIdx.x;
  float sums[2][kOutputs] = {};
  for (int base = 0; base < inputs; base += kChannels) {
    for (int i = thread; i < kChannels * 18 * 34; i += 256) {
      const int c = base + i / (18 * 34);
      const int y = top + i / 34 % 18 - 1;
      const int x = left + i % 34 - 1;
      (&tile[0][0][0])[i] = c < inputs && y >= 0 && y < height && x >= 0 && x < width
                                ? in[(static_cast<size_t>(c) * height + y) * width + x]
                                : 0.0f;
    }
    for (int i = thread; i < kOutputs * kChannels * 9; i += 256) {
      const int o = i / (kChannels * 9);
      const int c = i / 9 % kChannels;
      taps[c][i % 9][o] = first + o < outputs && base + c < inputs
                              ? weights[(static_cast<size_t>(first + o) * inputs + base + c) * 9 + i % 9]
                              : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int c = 0; c < kChannels; ++c) {
      float window[4][3];
#pragma unroll
      for (int y = 0; y < 4; ++y) {
#pragma unroll
        for (int x = 0; x < 3; ++x) window[y][x] = tile[c][2 * threadIdx.y + y][threadIdx.x + x];
      }
#pragma unroll
      for (int tap = 0; tap < 9; ++tap) {
        const float upper = window[tap / 3][tap % 3];
        const float lower = window[tap / 3 + 1][tap % 3];
#pragma unroll
        for (int o = 0; o < kOutputs; o += 4) {
          const float4 w = *reinterpret_cast<const float4*>(&taps[c][tap][o]);
          sums[0][o] = fmaf(upper, w.x, sums[0][o]);
          sums[0][o + 1] = fmaf(upper, w.y, sums[0][o + 1]);
          sums[0][o + 2] = fmaf(upper, w.z, sums[0][o + 2]);
          sums[0][o + 3] = fmaf(upper, w.w, sums[0][o + 3]);
          sums[1][o] = fmaf(lower, w.x, sums[1][o]);
          sums[1][o + 1] = fmaf(lower, w.y, sums[1][o + 1]);
          sums[1][o + 2] = fmaf(lower, w.z, sums[1][o + 2]);
          sums[1][o + 3] = fmaf(lower, w.w, sums[1][o + 3]);
        }
      }
    }
    __syncthreads();
  }
  const int x = left + threadIdx.x;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int y = top + 2 * threadIdx.y + half;
#pragma unroll
    for (int o = 0; o < kOutputs; ++o) {
      if (first + o < outputs && y < height && x < width) {
        out[(static_cast<size_t>(first + o) * height + y) * width + x] = sums[half][o];
      }
    }
  }
}
