// Matrix multiplication C = alpha * A * B + beta * C, thread (x, y) computes element (x, y).
__global__ void sgemm(const float* A, const float* B, float* C, int M, int N, int K, float alpha, float beta) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  int col = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < M && col < N) {
    float sum = 0.0f;
    for (int i = 0; i < K; i++) {
      sum += A[row * K + i] * B[i * N + col];
    }
    C[row * N + col] = alpha * sum + beta * C[row * N + col];
  }
}
