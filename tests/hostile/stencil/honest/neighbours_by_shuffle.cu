// Neighbours from other lanes, the outermost from memory.
__global__ void k(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = i < n ? in[i] : 0.0f;
  float left = __shfl_up_sync(0xffffffffu, v, 1), right = __shfl_down_sync(0xffffffffu, v, 1);
  if (i == 0 || i >= n - 1) return;
  if (threadIdx.x % 32 == 0) left = in[i - 1];
  if (threadIdx.x % 32 == 31) right = in[i + 1];
  out[i] = (left + v + right) * 0.25f;
}
