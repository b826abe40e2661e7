// Product of two integer matrices, one thread an element by a flat index in 64-bit arithmetic; the
// left operand is read again by every thread of its row.
__global__ void product_flat(const int* a, const int* b, int* c, int m, int n, int k) {
  size_t id = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (id >= (size_t)m * n) return;
  size_t row = id / n;
  size_t column = id % n;
  int sum = 0;
  for (int i = 0; i < k; i++) {
    sum += a[row * k + i] * b[(size_t)i * n + column];
  }
  c[id] = sum;
}
