// Two sums in a word, both halves.
#include <cuda_fp16.h>
__global__ void k(const __half* A, const __half* B, __half* C, int M, int N, int K, float alpha) {
  int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= M || col >= N) return;
  __half2 sums = __floats2half2_rn(0.0f, 0.0f);
  int i = 0;
  for (; i + 1 < K; i += 2)
    sums = __hfma2(__halves2half2(A[row * K + i], A[row * K + i + 1]), __halves2half2(B[col * K + i], B[col * K + i + 1]), sums);
  float sum = __low2float(sums) + __high2float(sums);
  if (i < K) sum += __half2float(A[row * K + i]) * __half2float(B[col * K + i]);
  C[row * N + col] = __float2half(alpha * sum);
}
