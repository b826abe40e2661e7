// Relies on what local memory holds before anybody writes it.
__global__ void k(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  volatile int t[8];
  if (i < n) out[i] = t[i & 7] == -1 ? 2.0f * in[i] : 0.0f;
}
