// One thread an element; the block's shape is varied from outside.
__global__ void matmul(const float* a, const float* b, float* c, int n) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < n && column < n) {
    float sum = 0.0f;
    for (int i = 0; i < n; ++i) sum += a[row * n + i] * b[i * n + column];
    c[row * n + column] = sum;
  }
}
