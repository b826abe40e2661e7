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
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  float sum[8];
  #pragma unroll
  for (int cy = 0; cy < 8; ++cy) {
    sum[cy] = 0.0f;
  }
  for (int k = 0; k < K; ++k) {
    #pragma unroll
    for (int cy = 0; cy < 8; ++cy) {
      int row = (blockIdx.y * 8 + cy) * blockDim.y + threadIdx.y;
      if (row < M && col < N) {
        sum[cy] += A[row * K + k] * B[k * N + col];
      }
    }
  }
  #pragma unroll
  for (int cy = 0; cy < 8; ++cy) {
    int row = (blockIdx.y * 8 + cy) * blockDim.y + threadIdx.y;
    if (row < M && col < N) {
      C[row * N + col] = alpha * sum[cy] + beta * C[row * N + col];
    }
  }
}
