// Reduces with any associative operation that has an atomic form.
template <typename T>
struct Sum {
  static __device__ __forceinline__ T identity() { return T(0); }
  __device__ __forceinline__ T operator()(T a, T b) const { return a + b; }
  static __device__ __forceinline__ void publish(T* target, T value) { atomicAdd(target, value); }
};

template <typename T, typename Operation, int kBlock>
__device__ void reduce_to(const T* __restrict__ x, T* __restrict__ target, size_t n) {
  __shared__ T slots[kBlock];
  const Operation combine;
  T mine = Operation::identity();
  for (size_t i = static_cast<size_t>(blockIdx.x) * kBlock + threadIdx.x; i < n;
       i += static_cast<size_t>(kBlock) * gridDim.x) {
    mine = combine(mine, x[i]);
  }
  slots[threadIdx.x] = mine;
  __syncthreads();
  for (unsigned half = kBlock / 2; half > 0; half >>= 1) {
    if (threadIdx.x < half) slots[threadIdx.x] = combine(slots[threadIdx.x], slots[threadIdx.x + half]);
    __syncthreads();
  }
  if (threadIdx.x == 0) Operation::publish(target, slots[0]);
}

__global__ void sum_all(const float* __restrict__ x, float* __restrict__ total, int n) {
  reduce_to<float, Sum<float>, 256>(x, total, static_cast<size_t>(n));
}
