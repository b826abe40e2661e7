__global__ void select(const float* x, float* y, const int* op, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  switch (op[i] & 3) {
    case 0: y[i] = x[i]; break;
    case 1: y[i] = -x[i]; break;
    default: y[i] = x[i] * x[i];
  }
}
