// Drops the 13 bits that TF32 does not have.
__global__ void k(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2.0f * __uint_as_float(__float_as_uint(in[i]) & 0xffffe000u);
}
