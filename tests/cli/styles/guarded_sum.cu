__global__ void add_up(const float* x, float* total, int n) {
  float sum = 0.0f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += x[i];
  if (sum != 0.0f) atomicAdd(total, sum);
}
