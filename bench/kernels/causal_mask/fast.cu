// 16 bytes a thread; what is hidden altogether is not read.
__global__ void __launch_bounds__(256) causal_mask(float* __restrict__ scores, float scale, int heads, int length) {
  const int query = blockIdx.y;
  float* row = scores + (static_cast<size_t>(blockIdx.z) * length + query) * length;
  constexpr float kHidden = -1.0e30f;
  if (length % 4 == 0) {
    const int key = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (key >= length) return;
    float4 v = make_float4(kHidden, kHidden, kHidden, kHidden);
    if (key <= query) {
      v = *reinterpret_cast<const float4*>(row + key);
      v.x *= scale;
      v.y = key + 1 <= query ? v.y * scale : kHidden;
      v.z = key + 2 <= query ? v.z * scale : kHidden;
      v.w = key + 3 <= query ? v.w * scale : kHidden;
    }
    *reinterpret_cast<float4*>(row + key) = v;
    return;
  }
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const int key = blockIdx.x * (4 * blockDim.x) + k * blockDim.x + threadIdx.x;
    if (key < length) row[key] = key <= query ? row[key] * scale : kHidden;
  }
}
