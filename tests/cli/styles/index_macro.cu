#define IDX(r, c, ld) ((r) * (ld) + (c))
__global__ void mm(const float* A, const float* B, float* C, int M, int N, int K) {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= N || y >= M) return;
  float acc = 0.0f;
  for (int k = 0; k != K; ++k) acc = acc + A[IDX(y, k, K)] * B[IDX(k, x, N)];
  C[IDX(y, x, N)] = acc;
}
