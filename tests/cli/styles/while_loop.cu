// Newton's iterations until the error is small, in a while loop.
__global__ void square_roots(const float* in, float* out, int n) {
  const int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i >= n) return;
  float value = fabsf(in[i]);
  float guess = value > 1.0f ? value : 1.0f;
  int rounds = 0;
  while (fabsf(guess * guess - value) > 1e-4f * value && rounds < 40) {
    guess = 0.5f * (guess + value / guess);
    ++rounds;
  }
  out[i] = guess;
}
