// Operands in half precision.
#include <cuda_fp16.h>
__global__ void k(const float* A, const float* B, float* C, int M, int N, int K) {
  int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= M || col >= N) return;
  float sum = 0;
  for (int i = 0; i < K; ++i) sum += __half2float(__float2half(A[row * K + i])) * B[i * N + col];
  C[row * N + col] = sum;
}
