// One block a row, sums by shuffles; element and accumulator are template parameters.
#include <cuda_bf16.h>
#include <stdint.h>

template <typename acc_t>
__device__ __forceinline__ acc_t warp_reduce_sum(acc_t value) {
#pragma unroll
  for (int offset = warpSize / 2; offset > 0; offset /= 2)
    value += __shfl_down_sync(0xffffffff, value, offset);
  return value;
}

template <typename acc_t>
__device__ __forceinline__ acc_t block_reduce_sum(acc_t value) {
  static __shared__ acc_t shared[32];
  const int lane = threadIdx.x % warpSize;
  const int warp = threadIdx.x / warpSize;
  value = warp_reduce_sum(value);
  if (lane == 0) shared[warp] = value;
  __syncthreads();
  value = (threadIdx.x < blockDim.x / warpSize) ? shared[lane] : acc_t(0);
  if (warp == 0) value = warp_reduce_sum(value);
  return value;
}

template <typename scalar_t, typename acc_t>
__global__ void row_sum_bf16(const scalar_t* __restrict__ x, acc_t* __restrict__ out, int rows, int columns) {
  const scalar_t* row = x + static_cast<int64_t>(blockIdx.x) * columns;
  acc_t sum = 0;
  for (int i = threadIdx.x; i < columns; i += blockDim.x)
    sum += static_cast<acc_t>(row[i]);
  sum = block_reduce_sum<acc_t>(sum);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

template __global__ void row_sum_bf16<__nv_bfloat16, float>(const __nv_bfloat16*, float*, int, int);
