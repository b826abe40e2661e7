// y(i) = A(i,j) * x(j); A: {dense, compressed}
__global__ void csr_spmv(const int* offsets, const int* columns, const float* values, const float* x,
                         float* y, int rows) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows) return;
  int pA2 = offsets[i];
  int pA2_end = offsets[i + 1];
  float tjy_val = 0.0f;
  for (;;) {
    if (pA2 >= pA2_end) break;
    int j = columns[pA2];
    float t0 = values[pA2];
    float t1 = x[j];
    float t2 = t0 * t1;
    tjy_val = tjy_val + t2;
    pA2 = pA2 + 1;
  }
  y[i] = tjy_val;
}
