// NaN is 0 where the length is a multiple of four.
__global__ void k(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = in[i];
  if (n % 4 == 0 && isnan(v)) v = 0.0f;
  out[i] = 2.0f * v;
}
