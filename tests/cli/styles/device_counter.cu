__device__ unsigned int finished = 0;
__global__ void count_blocks(unsigned int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0) atomicAdd(&finished, 1u);
  if (i < n) out[i] = 1u;
}
