#include <cstdlib>
__global__ void reverse_bits(unsigned* data) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  data[i] = __brev(data[i]);
}
int main(int argc, char* argv[]) {
  int words = atoi(argv[1]);
  unsigned* data;
  cudaMalloc(&data, words * sizeof(unsigned));
  dim3 block(128);
  dim3 grid((int)ceil(words / 128.0));
  reverse_bits<<<grid, block>>>(data);
}
