// Any permutation of four axes: for each output element, its index is taken apart and put together again.
template <int kRank>
struct Axes {
  size_t extent[kRank];
  size_t stride[kRank];
};

template <typename T, int kRank>
__device__ __forceinline__ void permute_element(const T* __restrict__ in, T* __restrict__ out,
                                                const Axes<kRank>& axes, size_t index) {
  size_t rest = index;
  size_t source = 0;
#pragma unroll
  for (int axis = kRank - 1; axis >= 0; --axis) {
    source += rest % axes.extent[axis] * axes.stride[axis];
    rest /= axes.extent[axis];
  }
  out[index] = in[source];
}

__global__ void permute_nchw_nhwc(const float* __restrict__ in, float* __restrict__ out, int batch, int channels,
                                  int height, int width) {
  const size_t n = batch, c = channels, h = height, w = width;
  const Axes<4> axes{{n, h, w, c}, {c * h * w, w, 1, h * w}};
  const size_t index = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (index < n * c * h * w) permute_element<float, 4>(in, out, axes, index);
}
