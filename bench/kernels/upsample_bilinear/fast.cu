// Two input pixels above each other a thread: four rows of three values make four rows of two outputs, 8 bytes each.
// The weights are 1/4 and 3/4.
__global__ void __launch_bounds__(256) upsample_bilinear(const float* __restrict__ in, float* __restrict__ out,
                                                         int channels, int height, int width) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = 2 * (blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= width || y >= height) return;
  const float* plane = in + static_cast<size_t>(blockIdx.z) * height * width;
  const int before = max(x - 1, 0);
  const int after = min(x + 1, width - 1);
  float2 rows[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const float* row = plane + static_cast<size_t>(min(max(y + k - 1, 0), height - 1)) * width;
    const float centre = 0.75f * row[x];
    rows[k] = make_float2(fmaf(0.25f, row[before], centre), fmaf(0.25f, row[after], centre));
  }
  float2* target = reinterpret_cast<float2*>(out) + (static_cast<size_t>(blockIdx.z) * 2 * height + 2 * y) * width + x;
#pragma unroll
  for (int k = 1; k < 3; ++k) {
    if (y + k - 1 >= height) return;
    const float2 centre = make_float2(0.75f * rows[k].x, 0.75f * rows[k].y);
    target[0] = make_float2(fmaf(0.25f, rows[k - 1].x, centre.x), fmaf(0.25f, rows[k - 1].y, centre.y));
    target[width] = make_float2(fmaf(0.25f, rows[k + 1].x, centre.x), fmaf(0.25f, rows[k + 1].y, centre.y));
    target += 2 * width;
  }
}
