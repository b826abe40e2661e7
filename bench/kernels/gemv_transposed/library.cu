// The vector is taken through shared memory, a block's width at a time.
#define CEIL_DIV(a, b) (((a) + (b)-1) / (b))

template <typename T, int kWidth>
__global__ void gemv_transposed(const T* __restrict__ A, const T* __restrict__ x, T* __restrict__ y, int rows,
                                int columns) {
  __shared__ T piece[kWidth];
  const size_t column = static_cast<size_t>(blockIdx.x) * kWidth + threadIdx.x;
  T sum = T(0);
  for (int strip = 0; strip < CEIL_DIV(rows, kWidth); ++strip) {
    const int row = strip * kWidth + threadIdx.x;
    piece[threadIdx.x] = row < rows ? x[row] : T(0);
    __syncthreads();
    if (column < columns) {
      for (int k = 0; k < kWidth && strip * kWidth + k < rows; ++k) {
        sum += A[static_cast<size_t>(strip * kWidth + k) * columns + column] * piece[k];
      }
    }
    __syncthreads();
  }
  if (column < columns) y[column] += sum;
}

template __global__ void gemv_transposed<float, 128>(const float*, const float*, float*, int, int);
