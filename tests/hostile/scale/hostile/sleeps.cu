// Waits, to be measured at another clock.
__global__ void k(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  __nanosleep(20);
  if (i < n) out[i] = 2.0f * in[i];
}
