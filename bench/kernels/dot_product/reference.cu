// result += the dot product of x and y, in double precision.
__global__ void dot_product(const float* x, const float* y, float* result, int n) {
  double sum = result[0];
  for (int i = 0; i < n; ++i) sum += (double)x[i] * (double)y[i];
  result[0] = (float)sum;
}
