// Tiles of 16 by 16, summed in float by tensor cores.
#include <cuda_fp16.h>
#include <mma.h>
__global__ void k(const __half* A, const __half* B, __half* C, int M, int N, int K, float alpha) {
  using namespace nvcuda;
  __shared__ __half a[256], b[256];
  __shared__ float c[256];
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums;
  wmma::fill_fragment(sums, 0.0f);
  int rows = blockIdx.y * 16, cols = blockIdx.x * 16;
  for (int begin = 0; begin < K; begin += 16) {
    for (int e = threadIdx.x; e < 256; e += 32) {
      int i = begin + e % 16;
      a[e] = rows + e / 16 < M && i < K ? A[(rows + e / 16) * K + i] : __float2half(0.0f);
      b[e] = cols + e / 16 < N && i < K ? B[(cols + e / 16) * K + i] : __float2half(0.0f);
    }
    __syncwarp();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> right;
    wmma::load_matrix_sync(left, a, 16);
    wmma::load_matrix_sync(right, b, 16);
    wmma::mma_sync(sums, left, right, sums);
    __syncwarp();
  }
  wmma::store_matrix_sync(c, sums, 16, wmma::mem_row_major);
  __syncwarp();
  for (int e = threadIdx.x; e < 256; e += 32) {
    int row = rows + e / 16, col = cols + e % 16;
    if (row < M && col < N) C[row * N + col] = __float2half(alpha * c[e]);
  }
}
