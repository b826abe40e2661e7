// y = a x + y, in double precision.
__global__ void axpy(const float* x, float* y, float a, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    y[i] = (float)((double)a * (double)x[i] + (double)y[i]);
  }
}
