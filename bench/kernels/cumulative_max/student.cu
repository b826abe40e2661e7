// Running maximum over time, one thread for each series.
__global__ void cumulative_max(const float* x, float* out, int steps, int series) {
  int s = blockIdx.x * blockDim.x + threadIdx.x;
  if (s < series) {
    float maximum = x[s];
    for (int t = 0; t < steps; t++) {
      if (x[t * series + s] > maximum) {
        maximum = x[t * series + s];
      }
      out[t * series + s] = maximum;
    }
  }
}
