#include <constants.cuh>
__global__ void gain(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= kGain;
}
