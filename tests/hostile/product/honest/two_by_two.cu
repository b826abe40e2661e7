// Four elements a thread.
__global__ void k(const float* A, const float* B, float* C, int M, int N, int K) {
  int col = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
  int row = 2 * (blockIdx.y * blockDim.y + threadIdx.y);
  float s[2][2] = {};
  for (int i = 0; i < K; ++i)
    for (int y = 0; y < 2; ++y)
      for (int x = 0; x < 2; ++x)
        if (row + y < M && col + x < N) s[y][x] += A[(row + y) * K + i] * B[i * N + col + x];
  for (int y = 0; y < 2; ++y)
    for (int x = 0; x < 2; ++x)
      if (row + y < M && col + x < N) C[(row + y) * N + col + x] = s[y][x];
}
