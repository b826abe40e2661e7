// Four blocks of 512 threads a multiprocessor, four 16-byte loads in flight a thread, shuffles.
__global__ void __launch_bounds__(512) dot_product(const float* __restrict__ x, const float* __restrict__ y,
                                                   float* __restrict__ result, int n) {
  const float4* left = reinterpret_cast<const float4*>(x);
  const float4* right = reinterpret_cast<const float4*>(y);
  const int quads = n / 4;
  const int step = gridDim.x * blockDim.x;
  float first = 0.0f;
  float second = 0.0f;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (; i + step < quads; i += 2 * step) {
    const float4 a = left[i];
    const float4 b = right[i];
    const float4 c = left[i + step];
    const float4 d = right[i + step];
    first += (a.x * b.x + a.y * b.y) + (a.z * b.z + a.w * b.w);
    second += (c.x * d.x + c.y * d.y) + (c.z * d.z + c.w * d.w);
  }
  if (i < quads) {
    const float4 a = left[i];
    const float4 b = right[i];
    first += (a.x * b.x + a.y * b.y) + (a.z * b.z + a.w * b.w);
  }
  const int last = 4 * quads + threadIdx.x;
  if (blockIdx.x == 0 && last < n) second += x[last] * y[last];
  float sum = first + second;
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  __shared__ float parts[16];
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = threadIdx.x < 16 ? parts[threadIdx.x] : 0.0f;
    for (int offset = 8; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    if (threadIdx.x == 0) atomicAdd(result, sum);
  }
}
