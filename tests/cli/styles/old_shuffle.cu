__global__ void warp_sums(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = i < n ? in[i] : 0.0f;
  for (int d = 16; d > 0; d >>= 1) v += __shfl_down(v, d);
  if (threadIdx.x % 32 == 0) out[i / 32] = v;
}
