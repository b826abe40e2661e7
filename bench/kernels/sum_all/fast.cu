// 64 values a thread in groups of 16 bytes, four in flight; shuffles; one atomic a block of 32768 values.
__global__ void __launch_bounds__(512) sum_all(const float* __restrict__ x, float* __restrict__ total, int n) {
  constexpr int kRounds = 4;
  constexpr int kLoads = 4;
  const float4* from = reinterpret_cast<const float4*>(x);
  const int quads = n / 4;
  const int first = blockIdx.x * (kRounds * kLoads * 512) + threadIdx.x;
  float sums[kLoads] = {};
#pragma unroll
  for (int round = 0; round < kRounds; ++round) {
    float4 held[kLoads];
#pragma unroll
    for (int k = 0; k < kLoads; ++k) {
      const int i = first + (round * kLoads + k) * 512;
      held[k] = i < quads ? from[i] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    }
#pragma unroll
    for (int k = 0; k < kLoads; ++k) sums[k] += (held[k].x + held[k].y) + (held[k].z + held[k].w);
  }
  if (blockIdx.x == 0 && threadIdx.x < n % 4) sums[1] += x[4 * quads + threadIdx.x];
  float sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  __shared__ float parts[16];
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = threadIdx.x < 16 ? parts[threadIdx.x] : 0.0f;
    for (int offset = 8; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    if (threadIdx.x == 0) atomicAdd(total, sum);
  }
}
