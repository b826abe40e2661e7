__global__ void polynomial(const float* x, float* y, int n) {
  const auto horner = [](float v) { return ((2.0f * v + 3.0f) * v - 1.0f) * v + 0.5f; };
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = horner(x[i]);
}
