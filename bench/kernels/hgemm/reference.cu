// C = A B in double precision, rounded to half; all matrices by rows.
#include <cuda_fp16.h>

__global__ void hgemm(const __half* A, const __half* B, __half* C, int M, int N, int K) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= M || column >= N) return;
  double sum = 0.0;
  for (int k = 0; k < K; ++k)
    sum += (double)__half2float(A[row * K + k]) * (double)__half2float(B[k * N + column]);
  C[row * N + column] = __double2half(sum);
}
