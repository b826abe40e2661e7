// European options by the formula of Black and Scholes, in double precision. What is not positive counts as 10^-3.
__global__ void black_scholes(const float* spot, const float* strike, const float* years, float* call, float* put,
                              float rate, float volatility, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double s = fmax((double)spot[i], (double)1.0e-3f), k = fmax((double)strike[i], (double)1.0e-3f);
  double t = fmax((double)years[i], (double)1.0e-3f);
  double spread = (double)volatility * sqrt(t);
  double d1 = (log(s / k) + ((double)rate + 0.5 * volatility * volatility) * t) / spread;
  double d2 = d1 - spread;
  double discounted = k * exp(-(double)rate * t);
  call[i] = (float)(s * 0.5 * erfc(-d1 * 0.7071067811865476) - discounted * 0.5 * erfc(-d2 * 0.7071067811865476));
  put[i] = (float)(discounted * 0.5 * erfc(d2 * 0.7071067811865476) - s * 0.5 * erfc(d1 * 0.7071067811865476));
}
