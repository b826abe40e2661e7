// No branch, only a clamped index.
__global__ void k(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int at = min(i, n - 1);
  float v = in[at];
  if (i == at) out[at] = 2.0f * v;
}
