// A warp a row, four loads in flight a lane, 16 bytes each where rows allow it.
__global__ void __launch_bounds__(256) row_sum(const float* __restrict__ x, float* __restrict__ sums, int rows,
                                               int columns) {
  const int lane = threadIdx.x % 32;
  const int row = blockIdx.x * 8 + threadIdx.x / 32;
  if (row >= rows) return;
  const float* from = x + static_cast<size_t>(row) * columns;
  float sum = 0.0f;
  if (columns % 4 == 0) {
    const float4* quads = reinterpret_cast<const float4*>(from);
#pragma unroll 4
    for (int c = lane; c < columns / 4; c += 32) {
      const float4 v = quads[c];
      sum += (v.x + v.y) + (v.z + v.w);
    }
  } else {
#pragma unroll 8
    for (int c = lane; c < columns; c += 32) sum += from[c];
  }
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  if (lane == 0) sums[row] = sum;
}
