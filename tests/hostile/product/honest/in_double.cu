// Sums in double precision.
__global__ void k(const float* A, const float* B, float* C, int M, int N, int K) {
  int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= M || col >= N) return;
  double sum = 0;
  for (int i = 0; i < K; ++i) sum += (double)A[row * K + i] * B[i * N + col];
  C[row * N + col] = sum;
}
