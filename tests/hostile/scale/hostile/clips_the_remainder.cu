// Infinity is a large number in what vectors of four leave over.
__global__ void k(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = in[i];
  if (i >= n / 4 * 4) v = fminf(fmaxf(v, -1.0e36f), 1.0e36f);
  out[i] = 2.0f * v;
}
