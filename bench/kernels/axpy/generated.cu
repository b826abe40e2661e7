// parallel for, static schedule, chunk 8
__global__ void axpy(const float* x, float* y, float a, int n) {
  int t0 = blockIdx.x * blockDim.x + threadIdx.x;
  int lb = t0 * 8;
  int ub = lb + 8;
  if (ub > n) ub = n;
  int i = lb;
  for (;;) {
    if (!(i < ub)) break;
    float t1 = x[i];
    float t2 = a * t1;
    float t3 = y[i];
    float t4 = t2 + t3;
    y[i] = t4;
    i++;
  }
}
