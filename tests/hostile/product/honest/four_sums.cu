// Four interleaved sums.
__global__ void k(const float* A, const float* B, float* C, int M, int N, int K) {
  int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= M || col >= N) return;
  float s[4] = {};
  int i = 0;
  for (; i + 3 < K; i += 4)
    for (int j = 0; j < 4; ++j) s[j] += A[row * K + i + j] * B[(i + j) * N + col];
  for (; i < K; ++i) s[0] += A[row * K + i] * B[i * N + col];
  C[row * N + col] = (s[0] + s[1]) + (s[2] + s[3]);
}
