// BLAS level 1: y <- a x + y for unit strides.
template <typename T>
__device__ __forceinline__ T multiply_add(T a, T x, T y) {
  return a * x + y;
}

template <typename T>
__global__ void axpy(const T* __restrict__ x, T* __restrict__ y, T a, int n) {
  const size_t step = static_cast<size_t>(blockDim.x) * gridDim.x;
  for (size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < static_cast<size_t>(n); i += step) {
    y[i] = multiply_add(a, x[i], y[i]);
  }
}

template __global__ void axpy<float>(const float*, float*, float, int);
