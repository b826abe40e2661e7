// C = A B^T + bias in double precision, rounded to bfloat16; all matrices by rows.
#include <cuda_bf16.h>

__global__ void gemm_bf16_nt(const __nv_bfloat16* A, const __nv_bfloat16* B, const __nv_bfloat16* bias,
                             __nv_bfloat16* C, int M, int N, int K) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= M || column >= N) return;
  double sum = __bfloat162float(bias[column]);
  for (int k = 0; k < K; ++k) {
    sum += (double)__bfloat162float(A[row * K + k]) * (double)__bfloat162float(B[column * K + k]);
  }
  C[row * N + column] = __double2bfloat16(sum);
}
