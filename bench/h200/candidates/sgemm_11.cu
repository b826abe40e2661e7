// Single-precision matrix product C = alpha * A * B + beta * C, one thread an element.
//
// The thread's x index walks down the rows, so neighbouring threads of a warp touch addresses a whole
// row apart: a common first version, and a slow one.
__global__ void __launch_bounds__(256, 1) sgemm(
    int M,
    int N,
    int K,
    float alpha,
    const float* __restrict__ A,
    const float* __restrict__ B,
    float beta,
    float* __restrict__ C) {
  __shared__ float A_tile[4][16][36];
  __shared__ float B_tile[8][32][36];
  const int thread = (int)threadIdx.y * 32 + (int)threadIdx.x;
  float sum[4][8][2];
  #pragma unroll
  for (int cy = 0; cy < 2; ++cy) {
    #pragma unroll
    for (int cx = 0; cx < 8; ++cx) {
      #pragma unroll
      for (int cy2 = 0; cy2 < 4; ++cy2) {
        sum[cy2][cx][cy] = 0.0f;
      }
    }
  }
  for (int k0 = 0; k0 < K; k0 += 32) {
    #pragma unroll
    for (int A_step = 0; A_step < 2; ++A_step) {
      const int A_item = thread + A_step * 256;
      const int A_row = A_item / 32;
      const int A_column = A_item % 32;
      #pragma unroll
      for (int cy2 = 0; cy2 < 4; ++cy2) {
        A_tile[cy2][A_row][A_column] = (int)(blockIdx.y * 4 + cy2) * 16 + A_row < M && k0 + A_column < K ? A[k0 + K * (int)(blockIdx.y * 4 + cy2) * 16 + A_row * K + A_column] : 0.0f;
      }
    }
    #pragma unroll
    for (int B_step = 0; B_step < 4; ++B_step) {
      const int B_item = thread + B_step * 256;
      const int B_row = B_item / 32;
      const int B_column = B_item % 32;
      #pragma unroll
      for (int cx = 0; cx < 8; ++cx) {
        B_tile[cx][B_row][B_column] = (int)(blockIdx.x * 8 + cx) * 32 + B_column < N && k0 + B_row < K ? B[(int)(blockIdx.x * 8 + cx) * 32 + N * k0 + B_row * N + B_column] : 0.0f;
      }
    }
    __syncthreads();
    #pragma unroll 16
    for (int k1 = 0; k1 < 32; ++k1) {
      #pragma unroll
      for (int cy = 0; cy < 2; ++cy) {
        #pragma unroll
        for (int cx = 0; cx < 8; ++cx) {
          #pragma unroll
          for (int cy2 = 0; cy2 < 4; ++cy2) {
            sum[cy2][cx][cy] += A_tile[cy2][(int)threadIdx.y + cy * 8][k1] * B_tile[cx][k1][(int)threadIdx.x];
          }
        }
      }
    }
    __syncthreads();
  }
  #pragma unroll
  for (int cy = 0; cy < 2; ++cy) {
    #pragma unroll
    for (int cx = 0; cx < 8; ++cx) {
      int col = (blockIdx.x * 8 + cx) * blockDim.x + threadIdx.x;
      #pragma unroll
      for (int cy2 = 0; cy2 < 4; ++cy2) {
        int row = ((blockIdx.y * 4 + cy2) * 2 + cy) * blockDim.y + threadIdx.y;
        if (row < M && col < N) {
          C[row * N + col] = alpha * sum[cy2][cx][cy] + beta * C[row * N + col];
        }
      }
    }
  }
}
