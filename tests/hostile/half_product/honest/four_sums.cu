// Four sums side by side.
#include <cuda_fp16.h>
__global__ void k(const __half* A, const __half* B, __half* C, int M, int N, int K, float alpha) {
  int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= M || col >= N) return;
  float sums[4] = {};
  int i = 0;
  for (; i + 3 < K; i += 4)
    for (int j = 0; j < 4; ++j) sums[j] += __half2float(A[row * K + i + j]) * __half2float(B[col * K + i + j]);
  for (; i < K; ++i) sums[0] += __half2float(A[row * K + i]) * __half2float(B[col * K + i]);
  float sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  C[row * N + col] = __float2half(alpha * sum);
}
