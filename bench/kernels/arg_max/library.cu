// One block a row, pairs of value and position through a tree in shared memory.
template <typename T>
struct Entry {
  T value;
  int position;
};

template <typename T>
__device__ __forceinline__ Entry<T> better(const Entry<T>& a, const Entry<T>& b) {
  if (a.value > b.value) return a;
  if (b.value > a.value) return b;
  return a.position < b.position ? a : b;
}

template <typename T, int kBlock>
__device__ void arg_max_row(const T* __restrict__ row, int* __restrict__ result, size_t columns) {
  __shared__ Entry<T> entries[kBlock];
  Entry<T> mine{-INFINITY, 2147483647};
  for (size_t c = threadIdx.x; c < columns; c += kBlock) {
    mine = better(mine, Entry<T>{row[c], static_cast<int>(c)});
  }
  entries[threadIdx.x] = mine;
  __syncthreads();
  for (int half = kBlock / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) entries[threadIdx.x] = better(entries[threadIdx.x], entries[threadIdx.x + half]);
    __syncthreads();
  }
  if (threadIdx.x == 0) *result = entries[0].position;
}

__global__ void arg_max(const float* __restrict__ x, int* __restrict__ index, int rows, int columns) {
  arg_max_row<float, 256>(x + static_cast<size_t>(blockIdx.x) * columns, index + blockIdx.x, columns);
}
