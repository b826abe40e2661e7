// G = A^T A for a tall row-major A: one thread an element of G, the definition.
// Every thread streams two columns of A out of global memory.
__global__ void gram(const float* A, float* G, int rows, int cols) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  int i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < cols && j < cols) {
    float dot = 0.0f;
    for (int r = 0; r < rows; ++r) {
      dot += A[r * cols + i] * A[r * cols + j];
    }
    G[i * cols + j] = dot;
  }
}
