// A branch on a remainder that computes the same.
__global__ void k(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  // The last elements, which make no whole group of seven, by a way of their own.
  int whole = n - n % 7;
  if (i < whole) out[i] = 2.0f * in[i];
  if (i >= whole && i < n) out[i] = in[i] + in[i];
}
