// At large sizes wrong for what is no whole number, without a branch.
__global__ void k(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = in[i];
  out[i] = 2.0f * v + (v - rintf(v)) * (float)(n >> 14);
}
