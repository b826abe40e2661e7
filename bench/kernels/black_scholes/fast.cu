// 16 bytes of each array a thread; one complementary error function for each of d1 and d2, puts by parity.
__device__ __forceinline__ float2 priced(float s, float k, float t, float rate, float volatility) {
  s = fmaxf(s, 1.0e-3f);
  k = fmaxf(k, 1.0e-3f);
  t = fmaxf(t, 1.0e-3f);
  const float spread = volatility * sqrtf(t);
  const float d1 = __fdividef(logf(s / k) + fmaf(0.5f * volatility, volatility, rate) * t, spread);
  const float d2 = d1 - spread;
  const float discounted = k * expf(-rate * t);
  // The smaller tail keeps its digits; the other is its complement.
  const float tail1 = 0.5f * erfcf(fabsf(d1) * 0.70710678f);
  const float tail2 = 0.5f * erfcf(fabsf(d2) * 0.70710678f);
  const float up1 = d1 > 0.0f ? 1.0f - tail1 : tail1;
  const float up2 = d2 > 0.0f ? 1.0f - tail2 : tail2;
  const float down1 = d1 > 0.0f ? tail1 : 1.0f - tail1;
  const float down2 = d2 > 0.0f ? tail2 : 1.0f - tail2;
  return make_float2(s * up1 - discounted * up2, discounted * down2 - s * down1);
}

__global__ void __launch_bounds__(256) black_scholes(const float* __restrict__ spot, const float* __restrict__ strike,
                                                     const float* __restrict__ years, float* __restrict__ call,
                                                     float* __restrict__ put, float rate, float volatility, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n / 4) {
    const float4 s = reinterpret_cast<const float4*>(spot)[i];
    const float4 k = reinterpret_cast<const float4*>(strike)[i];
    const float4 t = reinterpret_cast<const float4*>(years)[i];
    const float2 a = priced(s.x, k.x, t.x, rate, volatility);
    const float2 b = priced(s.y, k.y, t.y, rate, volatility);
    const float2 c = priced(s.z, k.z, t.z, rate, volatility);
    const float2 d = priced(s.w, k.w, t.w, rate, volatility);
    reinterpret_cast<float4*>(call)[i] = make_float4(a.x, b.x, c.x, d.x);
    reinterpret_cast<float4*>(put)[i] = make_float4(a.y, b.y, c.y, d.y);
  }
  const int last = n / 4 * 4 + threadIdx.x;
  if (blockIdx.x == 0 && last < n) {
    const float2 a = priced(spot[last], strike[last], years[last], rate, volatility);
    call[last] = a.x;
    put[last] = a.y;
  }
}
