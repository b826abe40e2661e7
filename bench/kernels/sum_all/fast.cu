// Four blocks of 512 threads a multiprocessor (of 132), four 16-byte loads in flight a thread, shuffles.
__global__ void __launch_bounds__(512) sum_all(const float* __restrict__ x, float* __restrict__ total, int n) {
  constexpr int kLoads = 4;
  const float4* from = reinterpret_cast<const float4*>(x);
  const int quads = n / 4;
  const int step = gridDim.x * blockDim.x;
  float sums[kLoads] = {0.0f, 0.0f, 0.0f, 0.0f};
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (; i + (kLoads - 1) * step < quads; i += kLoads * step) {
    float4 held[kLoads];
#pragma unroll
    for (int k = 0; k < kLoads; ++k) held[k] = from[i + k * step];
#pragma unroll
    for (int k = 0; k < kLoads; ++k) sums[k] += (held[k].x + held[k].y) + (held[k].z + held[k].w);
  }
  for (; i < quads; i += step) {
    const float4 v = from[i];
    sums[0] += (v.x + v.y) + (v.z + v.w);
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
