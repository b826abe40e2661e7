// Many small matrix products: every thread multiplies one pair of matrices.
#define SIZE 16

__global__ void batched_gemm(const float* A, const float* B, float* C, int batch) {
  int m = blockIdx.x * blockDim.x + threadIdx.x;
  if (m < batch) {
    for (int i = 0; i < SIZE; i++) {
      for (int j = 0; j < SIZE; j++) {
        float sum = 0.0f;
        for (int k = 0; k < SIZE; k++) {
          sum += A[m * SIZE * SIZE + i * SIZE + k] * B[m * SIZE * SIZE + k * SIZE + j];
        }
        C[m * SIZE * SIZE + i * SIZE + j] = sum;
      }
    }
  }
}
