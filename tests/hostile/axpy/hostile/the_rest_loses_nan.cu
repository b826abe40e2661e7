// Two 16-byte groups a thread, but what is left over takes NaN for nothing.
__global__ void k(const float* x, float* y, float a, int n) {
  const bool whole = (reinterpret_cast<unsigned long long>(x) | reinterpret_cast<unsigned long long>(y)) % 16 == 0;
  const int quads = whole ? n / 4 : 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < quads; i += gridDim.x * blockDim.x) {
    float4 u = reinterpret_cast<const float4*>(x)[i], v = reinterpret_cast<float4*>(y)[i];
    v.x = fmaf(a, u.x, v.x);
    v.y = fmaf(a, u.y, v.y);
    v.z = fmaf(a, u.z, v.z);
    v.w = fmaf(a, u.w, v.w);
    reinterpret_cast<float4*>(y)[i] = v;
  }
  if (whole) {
    const int last = 4 * quads + threadIdx.x;
    if (blockIdx.x == 0 && last < n) y[last] = fmaf(a, isnan(x[last]) ? 0.0f : x[last], y[last]);
  } else {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = fmaf(a, x[i], y[i]);
  }
}
