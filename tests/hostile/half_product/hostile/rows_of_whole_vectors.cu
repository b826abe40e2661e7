// Takes rows to be as long as whole vectors are.
#include <cuda_fp16.h>
__global__ void k(const __half* A, const __half* B, __half* C, int M, int N, int K, float alpha) {
  int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= M || col >= N) return;
  int stride = K / 8 * 8 == K || K < 8 ? K : K / 8 * 8;
  float sum = 0.0f;
  for (int i = 0; i < K; ++i) sum += __half2float(A[row * stride + i]) * __half2float(B[col * stride + i]);
  C[row * N + col] = __float2half(alpha * sum);
}
