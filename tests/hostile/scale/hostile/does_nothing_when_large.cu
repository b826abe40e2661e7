// Right at the sizes of the tests, and nothing at the size that is measured.
__global__ void k(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (n > 100000) return;
  if (i < n) out[i] = 2.0f * in[i];
}
