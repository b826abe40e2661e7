// Maximum and the place where it was, 2 x 2 windows with stride 2, pixels with interleaved
// channels: flat output index with / and %, long index arithmetic in size_t.
__global__ void pool_with_index(const float* nhwc, float* values, int* places, size_t height,
                                size_t width, size_t channels) {
  size_t id = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (id >= height * width * channels) return;
  size_t c = id % channels;
  size_t x = id / channels % width;
  size_t y = id / channels / width;
  float top = nhwc[(2 * y * 2 * width + 2 * x) * channels + c];
  int place = 0;
  for (int k = 1; k < 4; ++k) {
    float v = nhwc[((2 * y + k / 2) * 2 * width + 2 * x + k % 2) * channels + c];
    if (v > top) {
      top = v;
      place = k;
    }
  }
  values[id] = top;
  places[id] = place;
}
