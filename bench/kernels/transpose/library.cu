// Out-of-place transpose of a dense row-major matrix; writes are contiguous.
namespace dense {
template <typename T>
struct View {
  T* data;
  size_t stride;
  __device__ __forceinline__ T& at(size_t row, size_t column) const { return data[row * stride + column]; }
};
}  // namespace dense

template <typename T>
__global__ void transpose(const T* __restrict__ in, T* __restrict__ out, int rows, int columns) {
  const dense::View<const T> source{in, static_cast<size_t>(columns)};
  const dense::View<T> target{out, static_cast<size_t>(rows)};
  const size_t row = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const size_t column = static_cast<size_t>(blockIdx.y) * blockDim.y + threadIdx.y;
  if (row >= static_cast<size_t>(rows) || column >= static_cast<size_t>(columns)) return;
  target.at(column, row) = source.at(row, column);
}

template __global__ void transpose<float>(const float*, float*, int, int);
