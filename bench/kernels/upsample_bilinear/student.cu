// Doubles the size of an image with bilinear interpolation
__global__ void upsample_bilinear(const float* in, float* out, int channels, int height, int width) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  int c = blockIdx.z;
  if (x < 2 * width && y < 2 * height) {
    float source_x = (x + 0.5f) / 2.0f - 0.5f;
    float source_y = (y + 0.5f) / 2.0f - 0.5f;
    if (source_x < 0) source_x = 0;
    if (source_y < 0) source_y = 0;
    int x0 = (int)source_x;
    int y0 = (int)source_y;
    int x1 = x0 + 1 < width ? x0 + 1 : width - 1;
    int y1 = y0 + 1 < height ? y0 + 1 : height - 1;
    float wx = source_x - x0;
    float wy = source_y - y0;
    float top = (1 - wx) * in[(c * height + y0) * width + x0] + wx * in[(c * height + y0) * width + x1];
    float bottom = (1 - wx) * in[(c * height + y1) * width + x0] + wx * in[(c * height + y1) * width + x1];
    out[(c * 2 * height + y) * 2 * width + x] = (1 - wy) * top + wy * bottom;
  }
}
