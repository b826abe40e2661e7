// C = A B^T of integers of eight bits, by rows.
__global__ void gemm_int8(const signed char* A, const signed char* B, int* C, int M, int N, int K) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= M || column >= N) return;
  long long sum = 0;
  for (int k = 0; k < K; ++k)
    sum += A[row * K + k] * B[column * K + k];
  C[row * N + column] = (int)sum;
}
