// C[b] = A[b] B[b] for many small row-major matrices: a thread an element, a batch index in z.
// Slow because every operand is fetched from global memory again by each thread that needs it.
__global__ void batched_matmul(const float* A, const float* B, float* C, int batch, int m, int n,
                               int k) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int b = blockIdx.z;
  if (row < m && col < n) {
    float sum = 0.0f;
    for (int p = 0; p < k; p++) {
      sum += A[(b * m + row) * k + p] * B[(b * k + p) * n + col];
    }
    C[(b * m + row) * n + col] = sum;
  }
}
