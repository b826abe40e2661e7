// Correlation with any odd window; what lies beyond the image is a policy.
template <typename T>
class Image {
 public:
  __device__ Image(const T* __restrict__ data, int height, int width) : data_(data), height_(height), width_(width) {}
  __device__ __forceinline__ T or_zero(int y, int x) const {
    return y < 0 || y >= height_ || x < 0 || x >= width_ ? T(0) : data_[static_cast<size_t>(y) * width_ + x];
  }

 private:
  const T* __restrict__ data_;
  int height_;
  int width_;
};

template <typename T, int kRadius>
__device__ __forceinline__ T correlate(const Image<T>& image, const T* __restrict__ filter, int y, int x) {
  constexpr int kWidth = 2 * kRadius + 1;
  T sum = T(0);
  for (int dy = -kRadius; dy <= kRadius; ++dy) {
#pragma unroll
    for (int dx = -kRadius; dx <= kRadius; ++dx) {
      sum += image.or_zero(y + dy, x + dx) * filter[(dy + kRadius) * kWidth + dx + kRadius];
    }
  }
  return sum;
}

__global__ void convolution_17(const float* __restrict__ in, const float* __restrict__ filter,
                               float* __restrict__ out, int height, int width) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  out[static_cast<size_t>(y) * width + x] = correlate<float, 8>(Image<float>(in, height, width), filter, y, x);
}
