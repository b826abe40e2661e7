// y[i] = sum over k of h[k] x[i + k - taps / 2], zero outside: one thread an output.
// Each sample is read from global memory by as many threads as there are taps.
__global__ void fir(const float* x, const float* h, float* y, int n, int taps) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float sum = 0.0f;
    for (int k = 0; k < taps; k++) {
      int at = i + k - taps / 2;
      if (at >= 0 && at < n) {
        sum += h[k] * x[at];
      }
    }
    y[i] = sum;
  }
}
