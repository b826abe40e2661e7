// Product of two row-major matrices, one thread an element of the result with x along its row; both
// operands are read from global memory for every product.
__global__ void product(const float* left, const float* right, float* result, int m, int n, int k) {
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < m && column < n) {
    float sum = 0.0f;
    for (int i = 0; i < k; ++i) {
      sum += left[row * k + i] * right[i * n + column];
    }
    result[row * n + column] = sum;
  }
}
