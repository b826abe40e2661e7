// A small array of its own, indexed at run time.
__global__ void k(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v[8];
  for (int j = 0; j < 8; ++j) v[j] = j == (n & 7) ? 2.0f : 1.0f;
  if (i < n) out[i] = v[n & 7] * in[i];
}
