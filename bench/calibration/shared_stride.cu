// Reads of shared memory `stride` words apart: bank passes.
__global__ void shared_stride(const float* in, float* out, int n, int rounds, int stride) {
  __shared__ float tile[2048];
  for (int k = threadIdx.x; k < 2048; k += blockDim.x) tile[k] = in[k];
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0.0f;
  for (int k = 0; k < rounds; ++k) sum += tile[(threadIdx.x * stride + k) & 2047];
  if (i < n) out[i] = sum;
}
