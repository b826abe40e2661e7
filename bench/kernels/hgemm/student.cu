// Matrix product in half precision with a float sum, one thread for each element.
#include <cuda_fp16.h>

__global__ void hgemm(const __half* A, const __half* B, __half* C, int M, int N, int K) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < M && col < N) {
    float sum = 0.0f;
    for (int k = 0; k < K; k++) {
      sum += __half2float(A[row * K + k]) * __half2float(B[k * N + col]);
    }
    C[row * N + col] = __float2half(sum);
  }
}
