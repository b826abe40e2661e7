// One thread an output pixel for all channels; scale factors are computed from the extents.
template <typename T>
struct Sample {
  int low;
  int high;
  T weight;
};

template <typename T>
__device__ __forceinline__ Sample<T> sample_at(int target, T ratio, int extent) {
  const T position = max(ratio * (static_cast<T>(target) + T(0.5)) - T(0.5), T(0));
  const int low = static_cast<int>(position);
  return {low, low < extent - 1 ? low + 1 : low, position - static_cast<T>(low)};
}

template <typename T>
__global__ void upsample_bilinear(const T* __restrict__ in, T* __restrict__ out, int channels, int height,
                                  int width) {
  const int out_height = 2 * height;
  const int out_width = 2 * width;
  const size_t index = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (index >= static_cast<size_t>(out_height) * out_width) return;
  const auto vertical = sample_at<T>(index / out_width, static_cast<T>(height) / out_height, height);
  const auto horizontal = sample_at<T>(index % out_width, static_cast<T>(width) / out_width, width);
  for (int c = 0; c < channels; ++c) {
    const T* __restrict__ plane = in + static_cast<size_t>(c) * height * width;
    const T* __restrict__ upper = plane + static_cast<size_t>(vertical.low) * width;
    const T* __restrict__ lower = plane + static_cast<size_t>(vertical.high) * width;
    const T left = upper[horizontal.low] * (T(1) - vertical.weight) + lower[horizontal.low] * vertical.weight;
    const T right = upper[horizontal.high] * (T(1) - vertical.weight) + lower[horizontal.high] * vertical.weight;
    out[static_cast<size_t>(c) * out_height * out_width + index] =
        left * (T(1) - horizontal.weight) + right * horizontal.weight;
  }
}

template __global__ void upsample_bilinear<float>(const float*, float*, int, int, int);
