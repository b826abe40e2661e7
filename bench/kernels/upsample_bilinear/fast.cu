// Two input pixels a thread: three rows of four values make two rows of four outputs, 16 bytes each. The four
// weights are products of 1/4 and 3/4.
__global__ void __launch_bounds__(256) upsample_bilinear(const float* __restrict__ in, float* __restrict__ out,
                                                         int channels, int height, int width) {
  const int x = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const float* plane = in + static_cast<size_t>(blockIdx.z) * height * width;
  const int before = max(x - 1, 0);
  const int second = min(x + 1, width - 1);
  const int after = min(x + 2, width - 1);
  float4 rows[3];
#pragma unroll
  for (int k = 0; k < 3; ++k) {
    const float* row = plane + static_cast<size_t>(min(max(y + k - 1, 0), height - 1)) * width;
    const float a = row[before];
    const float b = row[x];
    const float c = row[second];
    const float d = row[after];
    rows[k] = make_float4(0.25f * a + 0.75f * b, 0.75f * b + 0.25f * c, 0.25f * b + 0.75f * c, 0.75f * c + 0.25f * d);
  }
  float* target = out + (static_cast<size_t>(blockIdx.z) * 2 * height + 2 * y) * 2 * width + 2 * x;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const float4 u = rows[2 * half];
    const float4 v = rows[1];
    const float4 r = make_float4(0.25f * u.x + 0.75f * v.x, 0.25f * u.y + 0.75f * v.y, 0.25f * u.z + 0.75f * v.z,
                                 0.25f * u.w + 0.75f * v.w);
    if (width % 2 == 0) {
      *reinterpret_cast<float4*>(target) = r;
    } else {
      target[0] = r.x;
      target[1] = r.y;
      if (x + 1 < width) {
        target[2] = r.z;
        target[3] = r.w;
      }
    }
    target += 2 * width;
  }
}
