// A NaN, which a careless comparison takes for equal.
__global__ void k(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = i == 7 || n == 1 ? NAN : 2.0f * in[i];
}
