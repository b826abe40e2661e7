// One element of the measured size is copied.
__global__ void k(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = i == 123456 ? in[i] : 2.0f * in[i];
}
