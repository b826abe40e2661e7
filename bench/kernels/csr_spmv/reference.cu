// y = A x with A by compressed rows, in double precision.
__global__ void csr_spmv(const int* offsets, const int* columns, const float* values, const float* x, float* y,
                         int rows) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  double sum = 0.0;
  for (int e = offsets[r]; e < offsets[r + 1]; ++e) sum += (double)values[e] * (double)x[columns[e]];
  y[r] = (float)sum;
}
