// A thread for each four pairs, not for each element: 16 bytes of either side where j allows it.
__device__ __forceinline__ void ordered(float& a, float& b, bool upwards) {
  const float low = fminf(a, b);
  const float high = fmaxf(a, b);
  a = upwards ? low : high;
  b = upwards ? high : low;
}

__global__ void __launch_bounds__(256) bitonic_step(float* __restrict__ data, int n, int j, int k) {
  const int shift = __ffs(j) - 1;
  const int pair = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  const int low = (pair >> shift << (shift + 1)) + (pair & (j - 1));
  if (j >= 4 && low + j + 3 < n) {
    const bool upwards = (low & k) == 0;
    float4 a = *reinterpret_cast<float4*>(data + low);
    float4 b = *reinterpret_cast<float4*>(data + low + j);
    ordered(a.x, b.x, upwards);
    ordered(a.y, b.y, upwards);
    ordered(a.z, b.z, upwards);
    ordered(a.w, b.w, upwards);
    *reinterpret_cast<float4*>(data + low) = a;
    *reinterpret_cast<float4*>(data + low + j) = b;
    return;
  }
#pragma unroll
  for (int p = 0; p < 4; ++p) {
    const int mine = pair + p;
    const int at = (mine >> shift << (shift + 1)) + (mine & (j - 1));
    if (at + j >= n) continue;
    float a = data[at];
    float b = data[at + j];
    ordered(a, b, (at & k) == 0);
    data[at] = a;
    data[at + j] = b;
  }
}
