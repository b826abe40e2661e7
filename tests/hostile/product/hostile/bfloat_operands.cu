// Operands in bfloat16.
#include <cuda_bf16.h>
__global__ void k(const float* A, const float* B, float* C, int M, int N, int K) {
  int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= M || col >= N) return;
  float sum = 0;
  for (int i = 0; i < K; ++i) sum += __bfloat162float(__float2bfloat16(A[row * K + i])) * B[i * N + col];
  C[row * N + col] = sum;
}
