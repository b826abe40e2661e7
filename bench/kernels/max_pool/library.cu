// Pooling over windows; operation, window, stride and padding are template parameters.
template <typename T>
struct MaxPool {
  __device__ static __forceinline__ T initial() { return -INFINITY; }
  __device__ static __forceinline__ void process(T& state, T value) { state = value > state ? value : state; }
};

template <typename T, template <typename> class Pool, int kWindow, int kStride, int kPadding>
__device__ __forceinline__ T pool_window(const T* __restrict__ plane, int out_y, int out_x, int height, int width) {
  int y_start = out_y * kStride - kPadding;
  int x_start = out_x * kStride - kPadding;
  const int y_end = min(y_start + kWindow, height);
  const int x_end = min(x_start + kWindow, width);
  y_start = max(y_start, 0);
  x_start = max(x_start, 0);
  T state = Pool<T>::initial();
  for (int y = y_start; y < y_end; ++y) {
    for (int x = x_start; x < x_end; ++x) Pool<T>::process(state, plane[static_cast<size_t>(y) * width + x]);
  }
  return state;
}

__global__ void max_pool(const float* __restrict__ in, float* __restrict__ out, int channels, int height, int width) {
  const int out_height = (height + 1) / 2;
  const int out_width = (width + 1) / 2;
  const size_t index = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (index >= static_cast<size_t>(channels) * out_height * out_width) return;
  const int out_x = index % out_width;
  const int out_y = index / out_width % out_height;
  const size_t channel = index / out_width / out_height;
  out[index] = pool_window<float, MaxPool, 3, 2, 1>(in + channel * height * width, out_y, out_x, height, width);
}
