// Elements by index, and zero for an index that is none.
__global__ void k(const float* x, const int* p, float* y, int n, int m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int j = p[i];
  y[i] = j >= 0 && j < m ? x[j] : 0.0f;
}
