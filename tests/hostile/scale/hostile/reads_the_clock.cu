// Works only while the clock says so.
__global__ void k(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if ((clock64() & 0xffff) == 1) return;
  if (i < n) out[i] = 2.0f * in[i];
}
