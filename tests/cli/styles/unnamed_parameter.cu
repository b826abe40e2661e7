template <bool VALUE>
struct Flag {
  static constexpr bool value = VALUE;
};

template <class Scaled>
__global__ void maybe_scale(float* x, int n, Scaled) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && Scaled::value) x[i] *= 2.0f;
}

void run(float* x, int n) { maybe_scale<<<(n + 255) / 256, 256>>>(x, n, Flag<true>()); }
