// Vectorised over options; a pricer returns both sides of a contract.
template <typename T>
struct Contract {
  T spot, strike, years;
};
template <typename T>
struct Price {
  T call, put;
};

template <typename T>
class BlackScholes {
 public:
  __device__ BlackScholes(T rate, T volatility) : rate_(rate), volatility_(volatility) {}
  __device__ Price<T> operator()(const Contract<T>& of) const {
    const T spread = volatility_ * sqrtf(of.years);
    const T d1 = (logf(of.spot / of.strike) + (rate_ + T(0.5) * volatility_ * volatility_) * of.years) / spread;
    const T d2 = d1 - spread;
    const T discounted = of.strike * expf(-rate_ * of.years);
    return {of.spot * cdf(d1) - discounted * cdf(d2), discounted * cdf(-d2) - of.spot * cdf(-d1)};
  }

 private:
  static __device__ T cdf(T x) { return T(0.5) * erfcf(-x * T(0.70710678)); }
  T rate_;
  T volatility_;
};

__global__ void black_scholes(const float* __restrict__ spot, const float* __restrict__ strike,
                              const float* __restrict__ years, float* __restrict__ call, float* __restrict__ put,
                              float rate, float volatility, int n) {
  constexpr float kLeast = 1.0e-3f;
  const BlackScholes<float> price(rate, volatility);
  for (size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < static_cast<size_t>(n);
       i += static_cast<size_t>(gridDim.x) * blockDim.x) {
    const Price<float> result = price({fmaxf(spot[i], kLeast), fmaxf(strike[i], kLeast), fmaxf(years[i], kLeast)});
    call[i] = result.call;
    put[i] = result.put;
  }
}
