// One block a row; warp shuffles, then shared memory between warps.
__device__ float block_reduce(float value, bool take_max) {
  __shared__ float warps[32];
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  for (int offset = 16; offset > 0; offset /= 2) {
    const float other = __shfl_xor_sync(0xffffffffu, value, offset);
    value = take_max ? fmaxf(value, other) : value + other;
  }
  __syncthreads();
  if (lane == 0) warps[warp] = value;
  __syncthreads();
  value = warps[0];
  for (int i = 1; i < blockDim.x / 32; ++i) {
    value = take_max ? fmaxf(value, warps[i]) : value + warps[i];
  }
  return value;
}

extern "C" __global__ void softmax(const float* in, float* out, int columns) {
  const float* row = in + static_cast<size_t>(blockIdx.x) * columns;
  float* result = out + static_cast<size_t>(blockIdx.x) * columns;
  float largest = -INFINITY;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) largest = fmaxf(largest, row[i]);
  largest = block_reduce(largest, true);
  float sum = 0.0f;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) sum += expf(row[i] - largest);
  sum = block_reduce(sum, false);
  for (int i = threadIdx.x; i < columns; i += blockDim.x) result[i] = expf(row[i] - largest) / sum;
}
