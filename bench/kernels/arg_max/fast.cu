// One block a row, 16-byte loads where rows allow it, pairs through shuffles.
struct Best {
  float value;
  int position;
};

__device__ __forceinline__ void take(Best& best, float value, int position) {
  if (value > best.value || (value == best.value && position < best.position)) best = {value, position};
}

__device__ __forceinline__ void across_warp(Best& best) {
  for (int offset = 16; offset > 0; offset /= 2) {
    const float value = __shfl_xor_sync(0xffffffffu, best.value, offset);
    const int position = __shfl_xor_sync(0xffffffffu, best.position, offset);
    take(best, value, position);
  }
}

__global__ void __launch_bounds__(256) arg_max(const float* __restrict__ x, int* __restrict__ index, int rows,
                                               int columns) {
  __shared__ Best parts[8];
  const float* row = x + static_cast<size_t>(blockIdx.x) * columns;
  Best best{-INFINITY, 2147483647};
  if (columns % 4 == 0) {
#pragma unroll 4
    for (int c = threadIdx.x; c < columns / 4; c += 256) {
      const float4 v = reinterpret_cast<const float4*>(row)[c];
      take(best, v.x, 4 * c);
      take(best, v.y, 4 * c + 1);
      take(best, v.z, 4 * c + 2);
      take(best, v.w, 4 * c + 3);
    }
  } else {
#pragma unroll 4
    for (int c = threadIdx.x; c < columns; c += 256) take(best, row[c], c);
  }
  across_warp(best);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = best;
  __syncthreads();
  if (threadIdx.x < 32) {
    best = parts[threadIdx.x % 8];
    across_warp(best);
    if (threadIdx.x == 0) index[blockIdx.x] = best.position;
  }
}
