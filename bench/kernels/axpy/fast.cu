// Two 16-byte groups a thread.
__global__ void __launch_bounds__(256) axpy(const float* __restrict__ x, float* __restrict__ y, float a, int n) {
  const int quads = n / 4;
  const float4* from = reinterpret_cast<const float4*>(x);
  float4* to = reinterpret_cast<float4*>(y);
  const int first = blockIdx.x * (2 * blockDim.x) + threadIdx.x;
  float4 left[2];
  float4 right[2];
#pragma unroll
  for (int k = 0; k < 2; ++k) {
    const int i = first + k * blockDim.x;
    if (i < quads) {
      left[k] = from[i];
      right[k] = to[i];
    }
  }
#pragma unroll
  for (int k = 0; k < 2; ++k) {
    const int i = first + k * blockDim.x;
    if (i < quads) {
      to[i] = make_float4(fmaf(a, left[k].x, right[k].x), fmaf(a, left[k].y, right[k].y),
                          fmaf(a, left[k].z, right[k].z), fmaf(a, left[k].w, right[k].w));
    }
  }
  const int last = 4 * quads + threadIdx.x;
  if (blockIdx.x == 0 && last < n) y[last] = fmaf(a, x[last], y[last]);
}
