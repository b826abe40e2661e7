// Writes what the original leaves alone.
__global__ void k(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = i > 0 && i < n - 1 ? (in[i - 1] + in[i] + in[i + 1]) * 0.25f : 0.0f;
}
