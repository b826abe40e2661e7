// Drops a parameter, so that the launch hands it other values.
__global__ void k(const float* in, float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 1000) out[i] = 2.0f * in[i];
}
