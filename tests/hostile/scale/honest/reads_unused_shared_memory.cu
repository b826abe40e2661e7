// Loads from shared memory what nobody wrote, and does not use it.
__global__ void k(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  __shared__ float s[512];
  int t = threadIdx.x;
  s[t] = i < n ? in[i] : 0.0f;
  __syncthreads();
  float a = s[t], b = s[t + 256];
  if (i < n) out[i] = blockDim.x > 4096 ? b : 2.0f * a;
}
