// Four elements (16 bytes) a thread through 16 planes, planes in registers; the other neighbours come from the cache.
__global__ void __launch_bounds__(256) stencil_3d(const float* __restrict__ in, float* __restrict__ out, int depth,
                                                  int height, int width) {
  constexpr int kPlanes = 16;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  const int first = blockIdx.z * kPlanes;
  const int last = min(first + kPlanes, depth);
  if (y >= height) return;
  const size_t area = static_cast<size_t>(height) * width;
  if (width % 4 != 0) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const int x = blockIdx.x * (4 * blockDim.x) + j * blockDim.x + threadIdx.x;
      if (x >= width) return;
      const float* at = in + first * area + static_cast<size_t>(y) * width + x;
      float behind = first > 0 ? *(at - area) : 0.0f;
      float here = *at;
      for (int z = first; z < last; ++z) {
        const float ahead = z + 1 < depth ? at[area] : 0.0f;
        float sum = behind + ahead;
        if (x > 0) sum += at[-1];
        if (x < width - 1) sum += at[1];
        if (y > 0) sum += *(at - width);
        if (y < height - 1) sum += at[width];
        out[at - in] = 0.4f * here + 0.1f * sum;
        behind = here;
        here = ahead;
        at += area;
      }
    }
    return;
  }
  const int x = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (x >= width) return;
  const float4 zero = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  const float* at = in + first * area + static_cast<size_t>(y) * width + x;
  auto four = [](const float* from) { return *reinterpret_cast<const float4*>(from); };
  float4 behind = first > 0 ? four(at - area) : zero;
  float4 here = four(at);
  for (int z = first; z < last; ++z) {
    const float4 ahead = z + 1 < depth ? four(at + area) : zero;
    const float4 north = y > 0 ? four(at - width) : zero;
    const float4 south = y < height - 1 ? four(at + width) : zero;
    const float west = x > 0 ? at[-1] : 0.0f;
    const float east = x + 4 < width ? at[4] : 0.0f;
    *reinterpret_cast<float4*>(out + (at - in)) =
        make_float4(0.4f * here.x + 0.1f * (west + here.y + north.x + south.x + behind.x + ahead.x),
                    0.4f * here.y + 0.1f * (here.x + here.z + north.y + south.y + behind.y + ahead.y),
                    0.4f * here.z + 0.1f * (here.y + here.w + north.z + south.z + behind.z + ahead.z),
                    0.4f * here.w + 0.1f * (here.z + east + north.w + south.w + behind.w + ahead.w));
    behind = here;
    here = ahead;
    at += area;
  }
}
