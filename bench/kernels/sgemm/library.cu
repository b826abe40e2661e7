// BLAS level 3, row-major, no transposition; one thread an element, columns along x.
namespace blas {
template <typename T>
struct Layout {
  size_t leading;
  __device__ __forceinline__ size_t operator()(size_t row, size_t column) const { return row * leading + column; }
};

template <typename T>
__device__ __forceinline__ T inner(const T* __restrict__ a, const T* __restrict__ b, size_t row, size_t column,
                                   size_t depth, Layout<T> of_a, Layout<T> of_b) {
  T sum = T(0);
#pragma unroll 4
  for (size_t k = 0; k < depth; ++k) sum += a[of_a(row, k)] * b[of_b(k, column)];
  return sum;
}
}  // namespace blas

template <typename T>
__global__ void sgemm(const T* __restrict__ A, const T* __restrict__ B, T* __restrict__ C, int M, int N, int K,
                      T alpha, T beta) {
  const size_t column = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const size_t row = static_cast<size_t>(blockIdx.y) * blockDim.y + threadIdx.y;
  if (row >= static_cast<size_t>(M) || column >= static_cast<size_t>(N)) return;
  const blas::Layout<T> of_a{static_cast<size_t>(K)};
  const blas::Layout<T> of_b{static_cast<size_t>(N)};
  T& target = C[of_b(row, column)];
  target = alpha * blas::inner<T>(A, B, row, column, K, of_a, of_b) + beta * target;
}

template __global__ void sgemm<float>(const float*, const float*, float*, int, int, int, float, float);
