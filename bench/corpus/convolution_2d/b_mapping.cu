// 3 x 3 filter on the interior only (valid mode). threadIdx.x runs down the rows of the image, so
// that neighbouring threads touch different rows.
__global__ void conv3_valid(const float* src, float* dst, const float* w, int rows, int cols) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  const int c = blockIdx.y * blockDim.y + threadIdx.y;
  if (r >= rows || c >= cols) return;
  const int pitch = cols + 2;
  float s = 0.0f;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      s += w[i * 3 + j] * src[(r + i) * pitch + c + j];
    }
  }
  dst[r * cols + c] = s;
}
