// Neighbouring threads read `stride` elements apart: sectors and lines that are used in part.
__global__ void strided_read(const float* in, float* out, int n, int stride) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i * stride];
}
