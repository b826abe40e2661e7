// Black-Scholes prices of European calls and puts: one thread an option, both prices from the
// formula with erff; the two distribution values of the put are computed once more.
__global__ void price(const float* spot, const float* strike, const float* years, float* call,
                      float* put, int n, float rate, float vol) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float s = spot[i];
    float x = strike[i];
    float t = years[i];
    float d1 = (logf(s / x) + (rate + vol * vol / 2.0f) * t) / (vol * sqrtf(t));
    float d2 = d1 - vol * sqrtf(t);
    float nd1 = 0.5f + 0.5f * erff(d1 * 0.70710678f);
    float nd2 = 0.5f + 0.5f * erff(d2 * 0.70710678f);
    float md1 = 0.5f + 0.5f * erff(-d1 * 0.70710678f);
    float md2 = 0.5f + 0.5f * erff(-d2 * 0.70710678f);
    call[i] = s * nd1 - x * expf(-rate * t) * nd2;
    put[i] = x * expf(-rate * t) * md2 - s * md1;
  }
}
