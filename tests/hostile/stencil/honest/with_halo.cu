// Through shared memory with both neighbours.
__global__ void k(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  __shared__ float s[258];
  int t = threadIdx.x;
  if (i < n) s[t + 1] = in[i];
  if (t == 0 && i > 0) s[0] = in[i - 1];
  if (t == blockDim.x - 1 && i + 1 < n) s[t + 2] = in[i + 1];
  __syncthreads();
  if (i > 0 && i < n - 1) out[i] = (s[t] + s[t + 1] + s[t + 2]) * 0.25f;
}
