// A macro that makes barriers vanish.
#define __syncthreads()
__global__ void k(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float a[16][16 + 0], b[16][16];
  int tx = threadIdx.x, ty = threadIdx.y, col = blockIdx.x * 16 + tx, row = blockIdx.y * 16 + ty;
  float sum = 0.0f;
  for (int t = 0; t < K; t += 16) {
    a[ty][tx] = row < M && t + tx < K ? A[row * K + t + tx] : 0.0f;
    b[ty][tx] = t + ty < K && col < N ? B[(t + ty) * N + col] : 0.0f;
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum += a[ty][i] * b[i][tx];
    __syncthreads();
  }
  if (row < M && col < N) C[row * N + col] = sum;
}
