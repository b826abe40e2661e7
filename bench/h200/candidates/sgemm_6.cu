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
  __shared__ float A_tile[64][16];
  __shared__ float B_tile[16][128];
  const int thread = (int)threadIdx.y * 32 + (int)threadIdx.x;
  float sum[4][8];
  #pragma unroll
  for (int cy = 0; cy < 8; ++cy) {
    #pragma unroll
    for (int cx = 0; cx < 4; ++cx) {
      sum[cx][cy] = 0.0f;
    }
  }
  for (int k0 = 0; k0 < K; k0 += 16) {
    #pragma unroll
    for (int A_step = 0; A_step < 4; ++A_step) {
      const int A_item = thread + A_step * 256;
      const int A_row = A_item / 16;
      const int A_column = A_item % 16;
      A_tile[A_row][A_column] = (int)blockIdx.y * 64 + A_row < M && k0 + A_column < K ? A[k0 + K * (int)blockIdx.y * 64 + A_row * K + A_column] : 0.0f;
    }
    #pragma unroll
    for (int B_step = 0; B_step < 8; ++B_step) {
      const int B_item = thread + B_step * 256;
      const int B_row = B_item / 128;
      const int B_column = B_item % 128;
      B_tile[B_row][B_column] = (int)blockIdx.x * 128 + B_column < N && k0 + B_row < K ? B[(int)blockIdx.x * 128 + N * k0 + B_row * N + B_column] : 0.0f;
    }
    __syncthreads();
    for (int k1 = 0; k1 < 16; ++k1) {
      #pragma unroll
      for (int cy = 0; cy < 8; ++cy) {
        #pragma unroll
        for (int cx = 0; cx < 4; ++cx) {
          sum[cx][cy] += A_tile[(int)threadIdx.y + cy * 8][k1] * B_tile[k1][(int)threadIdx.x + cx * 32];
        }
      }
    }
    __syncthreads();
  }
  #pragma unroll
  for (int cy = 0; cy < 8; ++cy) {
    int row = (blockIdx.y * 8 + cy) * blockDim.y + threadIdx.y;
    #pragma unroll
    for (int cx = 0; cx < 4; ++cx) {
      int col = (blockIdx.x * 4 + cx) * blockDim.x + threadIdx.x;
      if (row < M && col < N) {
        C[row * N + col] = alpha * sum[cx][cy] + beta * C[row * N + col];
      }
    }
  }
}
