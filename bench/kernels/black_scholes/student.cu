// Prices of European call and put options
__device__ float normal_cdf(float x) {
  return 0.5f * erfcf(-x * 0.70710678f);
}

__global__ void black_scholes(const float* spot, const float* strike, const float* years, float* call, float* put,
                              float rate, float volatility, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float s = fmaxf(spot[i], 1.0e-3f);
    float k = fmaxf(strike[i], 1.0e-3f);
    float t = fmaxf(years[i], 1.0e-3f);
    float d1 = (logf(s / k) + (rate + 0.5f * volatility * volatility) * t) / (volatility * sqrtf(t));
    float d2 = d1 - volatility * sqrtf(t);
    call[i] = s * normal_cdf(d1) - k * expf(-rate * t) * normal_cdf(d2);
    put[i] = k * expf(-rate * t) * normal_cdf(-d2) - s * normal_cdf(-d1);
  }
}
