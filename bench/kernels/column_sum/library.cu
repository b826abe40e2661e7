// Reduces any axis: element (outer, k) of the reduced axis lies at outer * outer_stride + k * stride.
struct StridedAxis {
  size_t outer_stride;
  size_t stride;
  size_t extent;
};

template <typename T, int kBlock>
__device__ T reduce_axis(const T* __restrict__ x, const StridedAxis axis, size_t outer) {
  __shared__ T slots[kBlock];
  T value = T(0);
  for (size_t k = threadIdx.x; k < axis.extent; k += kBlock) value += x[outer * axis.outer_stride + k * axis.stride];
  slots[threadIdx.x] = value;
  __syncthreads();
  for (int active = kBlock / 2; active > 0; active >>= 1) {
    if (threadIdx.x < active) slots[threadIdx.x] += slots[threadIdx.x + active];
    __syncthreads();
  }
  return slots[0];
}

__global__ void column_sum(const float* __restrict__ x, float* __restrict__ sums, int rows, int columns) {
  const StridedAxis axis{1, static_cast<size_t>(columns), static_cast<size_t>(rows)};
  const float total = reduce_axis<float, 128>(x, axis, blockIdx.x);
  if (threadIdx.x == 0) sums[blockIdx.x] = total;
}
