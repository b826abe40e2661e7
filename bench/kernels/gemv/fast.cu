// A warp a row, 16-byte loads, four in flight; the vector stays in the cache.
__global__ void __launch_bounds__(256) gemv(const float* __restrict__ A, const float* __restrict__ x,
                                            float* __restrict__ y, int rows, int columns) {
  const int lane = threadIdx.x % 32;
  const int row = blockIdx.x * 8 + threadIdx.x / 32;
  if (row >= rows) return;
  const float* from = A + static_cast<size_t>(row) * columns;
  float sum = 0.0f;
  if (columns % 4 == 0) {
#pragma unroll 4
    for (int c = lane; c < columns / 4; c += 32) {
      const float4 a = reinterpret_cast<const float4*>(from)[c];
      const float4 b = reinterpret_cast<const float4*>(x)[c];
      sum += (a.x * b.x + a.y * b.y) + (a.z * b.z + a.w * b.w);
    }
  } else {
#pragma unroll 8
    for (int c = lane; c < columns; c += 32) sum = fmaf(from[c], x[c], sum);
  }
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  if (lane == 0) y[row] = sum;
}
