// A warp a token, 16 bytes a lane, four loads in flight.
__global__ void __launch_bounds__(256) embedding(const float* __restrict__ table, const int* __restrict__ index,
                                                 float* __restrict__ out, int tokens, int width) {
  const int lane = threadIdx.x % 32;
  const int token = blockIdx.x * 8 + threadIdx.x / 32;
  if (token >= tokens) return;
  const float* from = table + static_cast<size_t>(index[token]) * width;
  float* to = out + static_cast<size_t>(token) * width;
  if (width % 4 == 0) {
    const float4* source = reinterpret_cast<const float4*>(from);
    float4* target = reinterpret_cast<float4*>(to);
    const int quads = width / 4;
    for (int base = lane; base < quads; base += 128) {
      float4 held[4];
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        if (base + 32 * k < quads) held[k] = source[base + 32 * k];
      }
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        if (base + 32 * k < quads) target[base + 32 * k] = held[k];
      }
    }
    return;
  }
#pragma unroll 4
  for (int i = lane; i < width; i += 32) to[i] = from[i];
}
