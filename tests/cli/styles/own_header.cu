#include "own_header.h"
__global__ void apply(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = own_function(x[i]);
}
