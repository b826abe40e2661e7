// Tiles of words of four integers in shared memory, multiplied four at a time; four rows a thread.
#include <stdint.h>

template <typename T>
struct Quad {
  static constexpr int kCount = sizeof(int) / sizeof(T);
  // The four elements from column on, zeros beyond the row.
  __device__ static __forceinline__ int load(const T* __restrict__ row, int column, int columns) {
    if (columns % kCount == 0) return column < columns ? *reinterpret_cast<const int*>(row + column) : 0;
    int word = 0;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      if (column + i < columns) word |= static_cast<int>(static_cast<uint8_t>(row[column + i])) << (8 * i);
    }
    return word;
  }
};

template <typename T, int kTile, int kWords, int kRows>
__device__ void quantized_product(const T* __restrict__ a, const T* __restrict__ b, int32_t* __restrict__ c, int m,
                                  int n, int k) {
  __shared__ int a_words[kTile][kWords + 1];
  __shared__ int b_words[kTile][kWords + 1];
  constexpr int kStep = kTile / kRows;
  const int thread = threadIdx.y * kTile + threadIdx.x;
  const int top = blockIdx.y * kTile;
  const int left = blockIdx.x * kTile;
  int32_t acc[kRows] = {};
  for (int base = 0; base < k; base += 4 * kWords) {
    for (int i = thread; i < kTile * kWords; i += kTile * kStep) {
      const int row = i / kWords;
      const int word = i % kWords;
      const int column = base + 4 * word;
      a_words[row][word] = top + row < m ? Quad<T>::load(a + static_cast<int64_t>(top + row) * k, column, k) : 0;
      b_words[row][word] = left + row < n ? Quad<T>::load(b + static_cast<int64_t>(left + row) * k, column, k) : 0;
    }
    __syncthreads();
#pragma unroll
    for (int w = 0; w < kWords; ++w) {
      const int right = b_words[threadIdx.x][w];
#pragma unroll
      for (int r = 0; r < kRows; ++r)
        acc[r] = __dp4a(a_words[threadIdx.y + r * kStep][w], right, acc[r]);
    }
    __syncthreads();
  }
  const int column = left + threadIdx.x;
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const int row = top + threadIdx.y + r * kStep;
    if (row < m && column < n) c[static_cast<int64_t>(row) * n + column] = acc[r];
  }
}

__global__ void gemm_int8(const int8_t* __restrict__ A, const int8_t* __restrict__ B, int32_t* __restrict__ C, int M,
                          int N, int K) {
  quantized_product<int8_t, 32, 8, 4>(A, B, C, M, N, K);
}
