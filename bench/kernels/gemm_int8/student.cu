// Product of int8 matrices, the second one transposed, one thread for each element.
__global__ void gemm_int8(const signed char* A, const signed char* B, int* C, int M, int N, int K) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < M && col < N) {
    int sum = 0;
    for (int k = 0; k < K; k++) {
      sum += (int)A[row * K + k] * (int)B[col * K + k];
    }
    C[row * N + col] = sum;
  }
}
