// Four outputs of a row a thread: nine inputs of each of three rows, two 16-byte loads and one single.
__global__ void __launch_bounds__(256) max_pool(const float* __restrict__ in, float* __restrict__ out, int channels,
                                                int height, int width) {
  const int out_width = (width + 1) / 2;
  const int out_height = (height + 1) / 2;
  const int ox = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  const int oy = blockIdx.y * blockDim.y + threadIdx.y;
  if (ox >= out_width || oy >= out_height) return;
  const float* plane = in + static_cast<size_t>(blockIdx.z) * height * width;
  float peaks[4] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY};
  const int left = 2 * ox;
#pragma unroll
  for (int k = -1; k <= 1; ++k) {
    const int y = 2 * oy + k;
    if (y < 0 || y >= height) continue;
    const float* row = plane + static_cast<size_t>(y) * width + left;
    float v[9];
    v[0] = left > 0 ? row[-1] : -INFINITY;
    if (width % 4 == 0) {
      const float4 a = *reinterpret_cast<const float4*>(row);
      float4 b = make_float4(-INFINITY, -INFINITY, -INFINITY, -INFINITY);
      if (left + 4 < width) b = *reinterpret_cast<const float4*>(row + 4);
      v[1] = a.x;
      v[2] = a.y;
      v[3] = a.z;
      v[4] = a.w;
      v[5] = b.x;
      v[6] = b.y;
      v[7] = b.z;
      v[8] = b.w;
    } else {
#pragma unroll
      for (int j = 0; j < 8; ++j) v[j + 1] = left + j < width ? row[j] : -INFINITY;
    }
#pragma unroll
    for (int j = 0; j < 4; ++j) peaks[j] = fmaxf(peaks[j], fmaxf(fmaxf(v[2 * j], v[2 * j + 1]), v[2 * j + 2]));
  }
  float* target = out + (static_cast<size_t>(blockIdx.z) * out_height + oy) * out_width + ox;
  if (out_width % 4 == 0) {
    *reinterpret_cast<float4*>(target) = make_float4(peaks[0], peaks[1], peaks[2], peaks[3]);
    return;
  }
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    if (ox + j < out_width) target[j] = peaks[j];
  }
}
