// Wide loads where the addresses permit them.
__global__ void k(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  bool aligned = ((reinterpret_cast<size_t>(in) | reinterpret_cast<size_t>(out)) & 15) == 0;
  if (aligned && 4 * i + 3 < n) {
    float4 v = reinterpret_cast<const float4*>(in)[i];
    reinterpret_cast<float4*>(out)[i] = make_float4(2 * v.x, 2 * v.y, 2 * v.z, 2 * v.w);
    return;
  }
  for (int j = 4 * i; j < min(n, 4 * i + 4); ++j) out[j] = 2.0f * in[j];
}
