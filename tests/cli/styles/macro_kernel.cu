#define UNARY(NAME, VALUE)                                    \
  __global__ void NAME##_all(const float* x, float* y, int n) { \
    int i = blockIdx.x * blockDim.x + threadIdx.x;             \
    if (i < n) y[i] = VALUE;                                   \
  }
UNARY(square, x[i] * x[i])
UNARY(negate, -x[i])
