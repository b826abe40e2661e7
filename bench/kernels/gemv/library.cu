// BLAS level 2, row-major, one block a row.
namespace blas {
template <typename T>
struct Matrix {
  const T* __restrict__ data;
  size_t leading;
  __device__ __forceinline__ T operator()(size_t row, size_t column) const { return data[row * leading + column]; }
};

template <typename T, int kThreads>
__device__ T dot_row(const Matrix<T>& a, const T* __restrict__ x, size_t row, size_t columns, T* shared) {
  T sum{};
  for (size_t c = threadIdx.x; c < columns; c += kThreads) sum += a(row, c) * x[c];
  shared[threadIdx.x] = sum;
  __syncthreads();
  for (int half = kThreads / 2; half >= 1; half /= 2) {
    if (threadIdx.x < half) shared[threadIdx.x] += shared[threadIdx.x + half];
    __syncthreads();
  }
  return shared[0];
}
}  // namespace blas

__global__ void gemv(const float* __restrict__ A, const float* __restrict__ x, float* __restrict__ y, int rows,
                     int columns) {
  __shared__ float shared[128];
  const blas::Matrix<float> matrix{A, static_cast<size_t>(columns)};
  const float sum = blas::dot_row<float, 128>(matrix, x, blockIdx.x, columns, shared);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
