#include <cassert>
#include <cstdio>

int rounds = 3;

__global__ void scale(const float* x, float* y, int n) {
  assert(blockDim.x <= 1024);
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {

    assert(n > 0);
    y[i] = 2.0f * x[i];
  }
}

int main() { printf("%d", rounds); }
