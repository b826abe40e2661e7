// Tiles of 32 x 32 in shared memory, four rows a thread; the right factor's tile is turned while it is loaded.
#include <cuda_bf16.h>
#include <stdint.h>

template <typename T, int kTile, int kRows>
__device__ __forceinline__ void load_tile(float (&tile)[kTile][kTile + 1], const T* __restrict__ matrix, int first_row,
                                          int rows, int first_column, int columns) {
  const int column = first_column + threadIdx.x;
#pragma unroll
  for (int i = 0; i < kTile; i += kTile / kRows) {
    const int row = first_row + threadIdx.y + i;
    tile[threadIdx.y + i][threadIdx.x] = row < rows && column < columns
                                             ? static_cast<float>(matrix[static_cast<int64_t>(row) * columns + column])
                                             : 0.0f;
  }
}

template <typename T, int kTile, int kRows, bool kHasBias>
__device__ void linear_forward(const T* __restrict__ input, const T* __restrict__ weight, const T* __restrict__ bias,
                               T* __restrict__ output, int m, int n, int k) {
  __shared__ float inputs[kTile][kTile + 1];
  __shared__ float weights[kTile][kTile + 1];
  const int column = blockIdx.x * kTile + threadIdx.x;
  const int top = blockIdx.y * kTile;
  float acc[kRows] = {};
  for (int base = 0; base < k; base += kTile) {
    load_tile<T, kTile, kRows>(inputs, input, top, m, base, k);
    load_tile<T, kTile, kRows>(weights, weight, blockIdx.x * kTile, n, base, k);
    __syncthreads();
#pragma unroll 8
    for (int i = 0; i < kTile; ++i) {
      const float w = weights[threadIdx.x][i];
#pragma unroll
      for (int r = 0; r < kRows; ++r)
        acc[r] += inputs[threadIdx.y + r * (kTile / kRows)][i] * w;
    }
    __syncthreads();
  }
  if (column >= n) return;
  const float added = kHasBias ? static_cast<float>(bias[column]) : 0.0f;
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const int row = top + threadIdx.y + r * (kTile / kRows);
    if (row < m) output[static_cast<int64_t>(row) * n + column] = static_cast<T>(acc[r] + added);
  }
}

__global__ void gemm_bf16_nt(const __nv_bfloat16* __restrict__ A, const __nv_bfloat16* __restrict__ B,
                             const __nv_bfloat16* __restrict__ bias, __nv_bfloat16* __restrict__ C, int M, int N,
                             int K) {
  linear_forward<__nv_bfloat16, 32, 4, true>(A, B, bias, C, M, N, K);
}
