// contract ij,j->i
__global__ void gemv(const float* A, const float* x, float* y, int rows, int columns) {
  int v0 = blockIdx.x * blockDim.x + threadIdx.x;
  if (v0 >= rows) return;
  float v1 = 0.0f;
  int v2 = 0;
  for (;;) {
    if (v2 >= columns) break;
    int v3 = v0 * columns;
    int v4 = v3 + v2;
    float v5 = A[v4];
    float v6 = x[v2];
    float v7 = v5 * v6;
    v1 = v1 + v7;
    v2 = v2 + 1;
  }
  y[v0] = v1;
}
