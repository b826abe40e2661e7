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
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  int col = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < M && col < N) {
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) {
      sum += A[row * K + k] * B[k * N + col];
    }
    C[row * N + col] = alpha * sum + beta * C[row * N + col];
  }
}
