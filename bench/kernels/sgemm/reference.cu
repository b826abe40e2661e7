// C = alpha A B + beta C, in double precision.
__global__ void sgemm(const float* A, const float* B, float* C, int M, int N, int K, float alpha, float beta) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= M * N) return;
  double sum = 0.0;
  for (int k = 0; k < K; ++k) sum += (double)A[i / N * K + k] * (double)B[k * N + i % N];
  C[i] = (float)(alpha * sum + beta * (double)C[i]);
}
