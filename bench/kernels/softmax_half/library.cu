// One block a row: maximum and sum are reduced by warps, then over the warps; element and accumulator are template
// parameters.
#include <cuda_fp16.h>
#include <stdint.h>

template <typename acc_t>
struct Max {
  static constexpr acc_t kIdentity = -INFINITY;
  __device__ __forceinline__ acc_t operator()(acc_t a, acc_t b) const { return a > b ? a : b; }
};

template <typename acc_t>
struct Add {
  static constexpr acc_t kIdentity = 0;
  __device__ __forceinline__ acc_t operator()(acc_t a, acc_t b) const { return a + b; }
};

template <typename acc_t, template <typename> class Reduction>
__device__ __forceinline__ acc_t warp_reduce(acc_t value) {
  const Reduction<acc_t> reduce{};
#pragma unroll
  for (int mask = 16; mask > 0; mask >>= 1)
    value = reduce(value, __shfl_xor_sync(0xffffffff, value, mask));
  return value;
}

template <typename acc_t, template <typename> class Reduction>
__device__ __forceinline__ acc_t block_reduce(acc_t value, acc_t* shared) {
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  value = warp_reduce<acc_t, Reduction>(value);
  __syncthreads();
  if (lane == 0) shared[warp] = value;
  __syncthreads();
  value = lane < blockDim.x / 32 ? shared[lane] : Reduction<acc_t>::kIdentity;
  return warp_reduce<acc_t, Reduction>(value);
}

template <typename scalar_t, typename acc_t>
__device__ void softmax_forward(const scalar_t* __restrict__ input, scalar_t* __restrict__ output, int classes) {
  __shared__ acc_t shared[32];
  input += static_cast<int64_t>(blockIdx.x) * classes;
  output += static_cast<int64_t>(blockIdx.x) * classes;
  acc_t highest = Max<acc_t>::kIdentity;
  for (int i = threadIdx.x; i < classes; i += blockDim.x)
    highest = max(highest, static_cast<acc_t>(input[i]));
  highest = block_reduce<acc_t, Max>(highest, shared);
  acc_t sum = 0;
  for (int i = threadIdx.x; i < classes; i += blockDim.x)
    sum += expf(static_cast<acc_t>(input[i]) - highest);
  sum = block_reduce<acc_t, Add>(sum, shared);
  for (int i = threadIdx.x; i < classes; i += blockDim.x) {
    output[i] = static_cast<scalar_t>(expf(static_cast<acc_t>(input[i]) - highest) / sum);
  }
}

__global__ void softmax_half(const __half* __restrict__ x, __half* __restrict__ out, int rows, int columns) {
  softmax_forward<__half, float>(x, out, columns);
}
