// One of the blocks copies.
__global__ void k(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (blockIdx.x == 777) {
    out[i] = in[i];
  } else {
    out[i] = 2.0f * in[i];
  }
}
