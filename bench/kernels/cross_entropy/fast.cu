// One block a row, read once: every thread keeps a maximum and a sum relative to it, pairs are joined by shuffles.
__device__ __forceinline__ void join(float& peak, float& sum, float other_peak, float other_sum) {
  const float higher = fmaxf(peak, other_peak);
  if (higher == -INFINITY) return;
  sum = sum * __expf(peak - higher) + other_sum * __expf(other_peak - higher);
  peak = higher;
}

__device__ __forceinline__ void join_warp(float& peak, float& sum) {
  for (int offset = 16; offset > 0; offset /= 2) {
    const float other_peak = __shfl_xor_sync(0xffffffffu, peak, offset);
    const float other_sum = __shfl_xor_sync(0xffffffffu, sum, offset);
    join(peak, sum, other_peak, other_sum);
  }
}

__global__ void __launch_bounds__(256) cross_entropy(const float* __restrict__ logits,
                                                     const int* __restrict__ labels, float* __restrict__ loss,
                                                     int rows, int classes) {
  __shared__ float2 parts[8];
  const float* row = logits + static_cast<size_t>(blockIdx.x) * classes;
  float peak = -INFINITY;
  float sum = 0.0f;
  if (classes % 4 == 0) {
#pragma unroll 2
    for (int c = threadIdx.x; c < classes / 4; c += 256) {
      const float4 v = reinterpret_cast<const float4*>(row)[c];
      const float high = fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w));
      join(peak, sum, high, (__expf(v.x - high) + __expf(v.y - high)) + (__expf(v.z - high) + __expf(v.w - high)));
    }
  } else {
#pragma unroll 4
    for (int c = threadIdx.x; c < classes; c += 256) join(peak, sum, row[c], 1.0f);
  }
  join_warp(peak, sum);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = make_float2(peak, sum);
  __syncthreads();
  if (threadIdx.x < 32) {
    const float2 part = parts[threadIdx.x % 8];
    peak = part.x;
    sum = threadIdx.x < 8 ? part.y : 0.0f;
    join_warp(peak, sum);
    if (threadIdx.x == 0) loss[blockIdx.x] = __logf(sum) + peak - row[labels[blockIdx.x]];
  }
}
