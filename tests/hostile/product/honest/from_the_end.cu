// The terms from the last to the first.
__global__ void k(const float* A, const float* B, float* C, int M, int N, int K) {
  int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= M || col >= N) return;
  float sum = 0.0f;
  for (int i = K; i-- > 0;) sum = fmaf(A[row * K + i], B[i * N + col], sum);
  C[row * N + col] = sum;
}
