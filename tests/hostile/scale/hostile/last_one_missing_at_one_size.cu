// Wrong at one size alone.
__global__ void k(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (n == 12345 && i == n - 1) return;
  if (i < n) out[i] = 2.0f * in[i];
}
