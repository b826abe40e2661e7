// Another factor where bit 13 of the size is set: no comparison, so no branch.
__global__ void k(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = (float)(2 + ((n >> 13) & 1)) * in[i];
}
