// Reduces the innermost axis, one block a segment.
template <typename T, int kBlock>
struct SegmentReducer {
  T* slots;
  __device__ explicit SegmentReducer(T* shared) : slots(shared) {}
  __device__ T reduce(T value) {
    slots[threadIdx.x] = value;
    __syncthreads();
    for (int active = kBlock / 2; active > 0; active >>= 1) {
      if (threadIdx.x < active) slots[threadIdx.x] += slots[threadIdx.x + active];
      __syncthreads();
    }
    return slots[0];
  }
};

template <typename T, int kBlock>
__global__ void row_sum(const T* __restrict__ x, T* __restrict__ sums, int rows, int columns) {
  __shared__ T shared[kBlock];
  const T* __restrict__ segment = x + static_cast<size_t>(blockIdx.x) * columns;
  T value = T(0);
  for (size_t c = threadIdx.x; c < static_cast<size_t>(columns); c += kBlock) value += segment[c];
  const T total = SegmentReducer<T, kBlock>(shared).reduce(value);
  if (threadIdx.x == 0) sums[blockIdx.x] = total;
}

template __global__ void row_sum<float, 128>(const float*, float*, int, int);
