// The sum is a half.
#include <cuda_fp16.h>
__global__ void k(const __half* A, const __half* B, __half* C, int M, int N, int K, float alpha) {
  int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= M || col >= N) return;
  __half sum = __float2half(0.0f);
  for (int i = 0; i < K; ++i) sum = __hfma(A[row * K + i], B[col * K + i], sum);
  C[row * N + col] = __float2half(alpha * __half2float(sum));
}
