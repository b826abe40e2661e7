// A function that is not inlined.
__device__ __noinline__ float twice(float x) { return 2.0f * x; }
__global__ void k(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = twice(in[i]);
}
