// Waits for a value that never comes.
__global__ void k(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  while (*(volatile float*)out != 123.456f) {}
  if (i < n) out[i] = 2.0f * in[i];
}
