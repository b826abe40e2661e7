// Neighbouring threads write `stride` elements apart: sectors that are written in part.
__global__ void strided_write(const float* in, float* out, int n, int stride) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i * stride] = in[i];
}
