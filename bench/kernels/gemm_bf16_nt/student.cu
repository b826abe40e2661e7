// Linear layer: inputs times transposed weights plus bias, one thread for each output.
#include <cuda_bf16.h>

__global__ void gemm_bf16_nt(const __nv_bfloat16* A, const __nv_bfloat16* B, const __nv_bfloat16* bias,
                             __nv_bfloat16* C, int M, int N, int K) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < M && col < N) {
    float sum = 0.0f;
    for (int k = 0; k < K; k++) {
      sum += __bfloat162float(A[row * K + k]) * __bfloat162float(B[col * K + k]);
    }
    C[row * N + col] = __float2bfloat16(sum + __bfloat162float(bias[col]));
  }
}
