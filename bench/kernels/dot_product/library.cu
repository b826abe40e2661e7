// BLAS level 1: dot product of unit strides.
#define THREADS 128

template <typename T>
__device__ T tree_sum(T value) {
  __shared__ T scratch[THREADS];
  scratch[threadIdx.x] = value;
  __syncthreads();
#pragma unroll
  for (int offset = THREADS / 2; offset > 0; offset /= 2) {
    if (threadIdx.x < offset) scratch[threadIdx.x] += scratch[threadIdx.x + offset];
    __syncthreads();
  }
  return scratch[0];
}

template <typename T>
__global__ void dot_product(const T* __restrict__ x, const T* __restrict__ y, T* __restrict__ result, int n) {
  T mine = T(0);
  const size_t stride = static_cast<size_t>(gridDim.x) * THREADS;
  for (size_t i = static_cast<size_t>(blockIdx.x) * THREADS + threadIdx.x; i < static_cast<size_t>(n); i += stride) {
    mine += x[i] * y[i];
  }
  const T sum = tree_sum(mine);
  if (threadIdx.x == 0) atomicAdd(result, sum);
}

template __global__ void dot_product<float>(const float*, const float*, float*, int);
