#include <cstddef>
template <typename T, int Items = 4>
__global__ void fill(T* data, T value, size_t count) {
  size_t first = (blockIdx.x * (size_t)blockDim.x + threadIdx.x) * Items;
#pragma unroll
  for (int k = 0; k < Items; ++k)
    if (first + k < count) data[first + k] = value;
}

template <typename Real>
void fill_all(Real* data, Real value, size_t count) {
  const int block = 128;
  fill<<<(count + 4 * block - 1) / (4 * block), block>>>(data, value, count);
}

int main() {
  double* d_values;
  cudaMalloc(&d_values, sizeof(double) * 1000000);
  fill_all(d_values, 0.5, 1000000);
}
