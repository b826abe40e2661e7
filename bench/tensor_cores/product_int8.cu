__global__ void product(const signed char* a, const signed char* b, int* c, int n) {
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= n || column >= n) return;
  int sum = 0;
  for (int k = 0; k < n; ++k) sum += (int)a[row * n + k] * (int)b[column * n + k];
  c[row * n + column] = sum;
}
