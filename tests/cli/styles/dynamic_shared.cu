#include <cstdlib>
__global__ void prefix_of_block(const int* in, int* out, int n) {
  extern __shared__ int line[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  line[threadIdx.x] = i < n ? in[i] : 0;
  __syncthreads();
  int s = 0;
  for (int k = 0; k <= threadIdx.x; ++k)
    s += line[k];
  if (i < n) out[i] = s;
}
void run(const int* in, int* out, int n) {
  const int block = 64;
  prefix_of_block<<<(n + block - 1) / block, block, block * sizeof(int)>>>(in, out, n);
}
