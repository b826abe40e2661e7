// Takes zero for neighbours in other blocks.
__global__ void k(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  __shared__ float s[256];
  s[threadIdx.x] = i < n ? in[i] : 0.0f;
  __syncthreads();
  float left = threadIdx.x > 0 ? s[threadIdx.x - 1] : 0.0f;
  float right = threadIdx.x < blockDim.x - 1 ? s[threadIdx.x + 1] : 0.0f;
  if (i > 0 && i < n - 1) out[i] = (left + s[threadIdx.x] + right) * 0.25f;
}
