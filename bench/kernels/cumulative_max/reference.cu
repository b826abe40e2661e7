// The largest value of each series so far; steps lie behind each other.
__global__ void cumulative_max(const float* x, float* out, int steps, int series) {
  int s = blockIdx.x * blockDim.x + threadIdx.x;
  if (s >= series) return;
  double peak = -INFINITY;
  for (int t = 0; t < steps; ++t) {
    peak = fmax(peak, (double)x[t * series + s]);
    out[t * series + s] = (float)peak;
  }
}
