// Tiles in shared memory, one element a thread; types of elements and of the sum, and what is done with it, are
// template parameters.
#include <cuda_fp16.h>
#include <stdint.h>

template <typename T>
struct Matrix {
  T* __restrict__ data;
  int rows;
  int columns;
  __device__ __forceinline__ T get(int row, int column) const {
    if (row >= rows || column >= columns) return T(0.0f);
    return data[static_cast<int64_t>(row) * columns + column];
  }
  __device__ __forceinline__ void set(int row, int column, T value) const {
    if (row < rows && column < columns) data[static_cast<int64_t>(row) * columns + column] = value;
  }
};

struct Identity {
  __device__ __forceinline__ float operator()(float v) const { return v; }
};

template <typename T, typename acc_t, int kTile, typename Epilogue>
__device__ void tiled_product(Matrix<const T> a, Matrix<const T> b, Matrix<T> c, Epilogue epilogue) {
  __shared__ T a_tile[kTile][kTile];
  __shared__ T b_tile[kTile][kTile];
  const int row = blockIdx.y * kTile + threadIdx.y;
  const int column = blockIdx.x * kTile + threadIdx.x;
  acc_t sum = 0;
  for (int k = 0; k < a.columns; k += kTile) {
    a_tile[threadIdx.y][threadIdx.x] = a.get(row, k + threadIdx.x);
    b_tile[threadIdx.y][threadIdx.x] = b.get(k + threadIdx.y, column);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kTile; ++i) {
      sum += static_cast<acc_t>(a_tile[threadIdx.y][i]) * static_cast<acc_t>(b_tile[i][threadIdx.x]);
    }
    __syncthreads();
  }
  c.set(row, column, static_cast<T>(epilogue(sum)));
}

__global__ void hgemm(const __half* __restrict__ A, const __half* __restrict__ B, __half* __restrict__ C, int M, int N,
                      int K) {
  tiled_product<__half, float, 16>(Matrix<const __half>{A, M, K}, Matrix<const __half>{B, K, N},
                                   Matrix<__half>{C, M, N}, Identity());
}
