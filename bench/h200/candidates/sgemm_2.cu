// Single-precision matrix product C = alpha * A * B + beta * C, one thread an element.
//
// The thread's x index walks down the rows, so neighbouring threads of a warp touch addresses a whole
// row apart: a common first version, and a slow one.
__global__ void sgemm(
    int M,
    int N,
    int K,
    float alpha,
    const float* A,
    const float* B,
    float beta,
    float* C) {
  __shared__ float A_tile[8][32];
  __shared__ float B_tile[32][32];
  const int thread = (int)threadIdx.y * 32 + (int)threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0.0f;
  for (int k0 = 0; k0 < K; k0 += 32) {
    #pragma unroll
    for (int A_step = 0; A_step < 1; ++A_step) {
      const int A_item = thread + A_step * 256;
      const int A_row = A_item / 32;
      const int A_column = A_item % 32;
      A_tile[A_row][A_column] = (int)blockIdx.y * 8 + A_row < M && k0 + A_column < K ? A[k0 + K * (int)blockIdx.y * 8 + A_row * K + A_column] : 0.0f;
    }
    #pragma unroll
    for (int B_step = 0; B_step < 4; ++B_step) {
      const int B_item = thread + B_step * 256;
      const int B_row = B_item / 32;
      const int B_column = B_item % 32;
      B_tile[B_row][B_column] = (int)blockIdx.x * 32 + B_column < N && k0 + B_row < K ? B[(int)blockIdx.x * 32 + N * k0 + B_row * N + B_column] : 0.0f;
    }
    __syncthreads();
    for (int k1 = 0; k1 < 32; ++k1) {
      sum += A_tile[(int)threadIdx.y][k1] * B_tile[k1][(int)threadIdx.x];
    }
    __syncthreads();
  }
  if (row < M && col < N) {
    C[row * N + col] = alpha * sum + beta * C[row * N + col];
  }
}
