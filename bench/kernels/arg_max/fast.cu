// A warp a row, four loads in flight a lane, 16 bytes each where rows allow it; pairs through shuffles.
struct Best {
  float value;
  int position;
};

__device__ __forceinline__ void take(Best& best, float value, int position) {
  if (value > best.value || (value == best.value && position < best.position)) best = {value, position};
}

__global__ void __launch_bounds__(256) arg_max(const float* __restrict__ x, int* __restrict__ index, int rows,
                                               int columns) {
  const int lane = threadIdx.x % 32;
  const int r = blockIdx.x * 8 + threadIdx.x / 32;
  if (r >= rows) return;
  const float* row = x + static_cast<size_t>(r) * columns;
  Best best{-INFINITY, 2147483647};
  if (columns % 4 == 0) {
#pragma unroll 4
    for (int c = lane; c < columns / 4; c += 32) {
      const float4 v = reinterpret_cast<const float4*>(row)[c];
      take(best, v.x, 4 * c);
      take(best, v.y, 4 * c + 1);
      take(best, v.z, 4 * c + 2);
      take(best, v.w, 4 * c + 3);
    }
  } else {
#pragma unroll 8
    for (int c = lane; c < columns; c += 32) take(best, row[c], c);
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    const float value = __shfl_xor_sync(0xffffffffu, best.value, offset);
    const int position = __shfl_xor_sync(0xffffffffu, best.position, offset);
    take(best, value, position);
  }
  if (lane == 0) index[r] = best.position;
}
