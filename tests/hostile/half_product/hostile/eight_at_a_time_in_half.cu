// Float across groups of eight terms, half inside.
#include <cuda_fp16.h>
__global__ void k(const __half* A, const __half* B, __half* C, int M, int N, int K, float alpha) {
  int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= M || col >= N) return;
  float sum = 0.0f;
  for (int i = 0; i < K; i += 8) {
    __half part = __float2half(0.0f);
    for (int j = i; j < min(i + 8, K); ++j) part = __hfma(A[row * K + j], B[col * K + j], part);
    sum += __half2float(part);
  }
  C[row * N + col] = __float2half(alpha * sum);
}
