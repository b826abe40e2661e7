__global__ void scale_rows(double* m, const double* s, size_t rows, size_t cols) {
  size_t c = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  size_t r = size_t(blockIdx.y) * blockDim.y + threadIdx.y;
  if (r < rows && c < cols) m[r * cols + c] *= s[r];
}
