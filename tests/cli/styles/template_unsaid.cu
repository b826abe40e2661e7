// Nothing says what T and the vector's width are.
template <typename T, int VEC>
__global__ void scale_packs(T* data, T factor, int n) {
  int first = (blockIdx.x * blockDim.x + threadIdx.x) * VEC;
  for (int i = 0; i < VEC; ++i) {
    if (first + i < n) data[first + i] *= factor;
  }
}
