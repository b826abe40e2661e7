// Operands with the precision of TF32.
__global__ void k(const float* A, const float* B, float* C, int M, int N, int K) {
  int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= M || col >= N) return;
  float sum = 0;
  for (int i = 0; i < K; ++i) sum += __uint_as_float(__float_as_uint(A[row * K + i]) & 0xffffe000u) *
           __uint_as_float(__float_as_uint(B[i * N + col]) & 0xffffe000u);
  C[row * N + col] = sum;
}
