// A thread for each four pairs, not for each element: 16 bytes of either side.
__device__ __forceinline__ void ordered(float& a, float& b, bool upwards) {
  const float low = fminf(a, b);
  const float high = fmaxf(a, b);
  a = upwards ? low : high;
  b = upwards ? high : low;
}

// Pairs one or two apart: two of them lie in 16 bytes. A thread takes two such groups, a block apart.
__device__ __forceinline__ void exchange_near(float* data, int n, int j, int k) {
#pragma unroll
  for (int group = 0; group < 2; ++group) {
    const int first = 4 * ((2 * blockIdx.x + group) * blockDim.x + threadIdx.x);
    if (first >= n) return;
    float held[4];
    const bool whole = first + 4 <= n;
    if (whole) {
      const float4 v = *reinterpret_cast<const float4*>(data + first);
      held[0] = v.x;
      held[1] = v.y;
      held[2] = v.z;
      held[3] = v.w;
    } else {
#pragma unroll
      for (int i = 0; i < 4; ++i) held[i] = first + i < n ? data[first + i] : 0.0f;
    }
#pragma unroll
    for (int i = 0; i < 3; ++i) {
      const bool upwards = ((first + i) & k) == 0;
      if (i % 2 == 0 && j == 1 && first + i + 1 < n) ordered(held[i], held[i + 1], upwards);
      if (i < 2 && j == 2 && first + i + 2 < n) ordered(held[i], held[i + 2], upwards);
    }
    if (whole) {
      *reinterpret_cast<float4*>(data + first) = make_float4(held[0], held[1], held[2], held[3]);
    } else {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        if (first + i < n) data[first + i] = held[i];
      }
    }
  }
}

__global__ void __launch_bounds__(256) bitonic_step(float* __restrict__ data, int n, int j, int k) {
  if (j < 4) {
    exchange_near(data, n, j, k);
    return;
  }
  const int shift = __ffs(j) - 1;
  const int pair = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  const int low = (pair >> shift << (shift + 1)) + (pair & (j - 1));
  if (low + j + 3 < n) {
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
